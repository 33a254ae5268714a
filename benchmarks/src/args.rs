//! The command line.

use std::path::PathBuf;

/// What a run does. `--quick` is the form for CI: it proves that everything works and agrees, its times mean little.
pub struct Args {
    pub keys: Vec<u64>,
    pub children: usize,
    pub rounds: usize,
    pub json: Option<PathBuf>,
    pub markdown: Option<PathBuf>,
    pub chart: Option<PathBuf>,
    /// Show the figures of an earlier `--json` again instead of measuring.
    pub from: Option<PathBuf>,
    /// Set in a child: which one it is.
    pub child: Option<u64>,
}

pub const USAGE: &str = "\
Measures mayhap beside other filters and beside the memory's own speed.

usage: cargo run --release -- [options]
  --keys N,N,..     numbers of keys (100000,1000000,10000000,100000000)
  --children N      processes, one after the other (3)
  --rounds N        rounds in which the contenders take turns (5)
  --quick           100000 and 1000000 keys, 1 process, 3 rounds
  --json FILE       write all figures
  --markdown FILE   write the tables between the two marker comments of FILE
  --chart FILE      write the chart, as SVG
  --from FILE       take the figures of an earlier --json instead of measuring";

impl Args {
    pub fn parse(mut given: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            keys: vec![100_000, 1_000_000, 10_000_000, 100_000_000],
            children: 3,
            rounds: 5,
            json: None,
            markdown: None,
            chart: None,
            from: None,
            child: None,
        };
        while let Some(option) = given.next() {
            if option == "--quick" {
                args.keys = vec![100_000, 1_000_000];
                (args.children, args.rounds) = (1, 3);
                continue;
            }
            let mut value = || given.next().ok_or(format!("{option} needs a value"));
            match option.as_str() {
                "--keys" => {
                    args.keys = value()?
                        .split(',')
                        .map(|keys| number(&option, keys))
                        .collect::<Result<_, _>>()?;
                }
                "--children" => args.children = number(&option, &value()?)? as usize,
                "--rounds" => args.rounds = number(&option, &value()?)? as usize,
                "--child" => args.child = Some(number(&option, &value()?)?),
                "--json" => args.json = Some(value()?.into()),
                "--markdown" => args.markdown = Some(value()?.into()),
                "--chart" => args.chart = Some(value()?.into()),
                "--from" => args.from = Some(value()?.into()),
                _ => return Err(format!("{option} is not an option\n\n{USAGE}")),
            }
        }
        Ok(args)
    }
}

fn number(option: &str, value: &str) -> Result<u64, String> {
    match value.replace('_', "").parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{option}: {value:?} is not a number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        Args::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn quick_is_small_and_later_options_win() {
        let args = parse("--quick --keys 5,1_000").unwrap();
        assert_eq!(
            (args.keys, args.children, args.rounds),
            (vec![5, 1000], 1, 3)
        );
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        for line in ["--keys 0", "--keys x", "--keys", "--fast"] {
            let option = line.split(' ').next().unwrap();
            assert!(parse(line).is_err_and(|message| message.contains(option)));
        }
    }
}
