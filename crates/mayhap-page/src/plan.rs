//! Plans: the object of `mayhap plan --json`, and below `page` what only the page shows.

use crate::{Options, PageError, curves, kinds};
use mayhap_codec::values::{bytes, count, rate};
use mayhap_codec::{CostRequest, PlanRequest, PlanRequestError};
use mayhap_core::plan::Requirements;
use serde_json::{Value, json};

const NAMES: [&str; 13] = [
    "keys",
    "fpr",
    "memory",
    "delete",
    "grow",
    "window",
    "static",
    "except",
    "cost_skip",
    "cost_lookup",
    "present",
    "cost_gib",
    "lookups",
];

/// The recommendation for some options of `mayhap plan`, with `_` or `-` in their names. The answer is what `plan --json` prints;
/// its field `page` has every kind side by side and the curves.
///
/// ```
/// use mayhap_page::{Options, plan};
/// let options = [("keys", "10M"), ("fpr", "1%")].map(|(name, value)| (name.into(), value.into()));
/// let answer = plan(&Options::new(options))?;
/// assert_eq!(answer["kind"], "bloom");
/// # Ok::<(), mayhap_page::PageError>(())
/// ```
///
/// # Errors
/// If an option is wrong, or no filter fits.
pub fn plan(options: &Options) -> Result<Value, PageError> {
    let options = options.with_underscores();
    options.check_names(&NAMES)?;
    let request = PlanRequest {
        keys: options.get("keys", count)?,
        false_positive_rate: options.get("fpr", rate)?,
        memory: options.get("memory", bytes)?,
        requirements: Requirements {
            delete: options.flag("delete")?,
            grow: options.flag("grow")?,
            expire: options.flag("window")?,
            fixed: options.flag("static")?,
            exceptions: options.get("except", count)?.unwrap_or(0),
        },
        costs: CostRequest {
            skip: options.number("cost_skip")?,
            lookup: options.number("cost_lookup")?,
            present: options.number("present")?,
            gib: options.number("cost_gib")?,
            lookups: options.get("lookups", count)?,
        },
    };
    let report = request.report().map_err(|error| explain(&error))?;
    let mut answer = report.to_json().map_err(PageError::new)?;
    answer["page"] = json!({
        "kinds": kinds::table(&request.requirements, &report),
        "past_capacity": curves::past_capacity(&report),
        "sizes": curves::sizes(&report),
        "costs": curves::costs(&report).map_err(PageError::new)?,
    });
    Ok(answer)
}

fn explain(error: &PlanRequestError) -> PageError {
    let page_error = PageError::new(error);
    match error {
        PlanRequestError::TooLarge {
            size_bytes,
            strictest,
            ..
        } => page_error
            .with("code", "too_large")
            .with("size_bytes", *size_bytes)
            .with("strictest", *strictest),
        PlanRequestError::Incomplete { .. } => page_error.with("code", "incomplete"),
        PlanRequestError::Costs => page_error.with("code", "costs"),
        PlanRequestError::Plan(_) => page_error.with("code", "plan"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(pairs: &[(&str, &str)]) -> Result<Value, PageError> {
        let pairs = pairs
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        plan(&Options::new(pairs))
    }

    #[test]
    fn a_plan_is_the_report_of_the_codec() {
        let request = PlanRequest {
            keys: Some(1_000_000),
            false_positive_rate: Some(0.01),
            requirements: Requirements {
                delete: true,
                ..Requirements::default()
            },
            ..PlanRequest::default()
        };
        let expected = request.report().unwrap().to_json().unwrap();
        let mut answer = answer(&[("keys", "1M"), ("fpr", "1%"), ("delete", "1")]).unwrap();
        let page = answer.as_object_mut().unwrap().remove("page").unwrap();
        assert_eq!(answer, expected);
        assert_eq!(page["kinds"].as_array().unwrap().len(), 12);
    }

    #[test]
    fn options_that_nobody_reads_and_wrong_values_are_refused() {
        for (pairs, text) in [
            (&[("kies", "1")][..], "no option"),
            (&[("keys", "many"), ("fpr", "1%")], "keys: give a whole"),
            (&[("keys", "5")], "two of keys"),
            (
                &[("keys", "5"), ("fpr", "1%"), ("delete", "maybe")],
                "1 or 0",
            ),
            (
                &[("keys", "1M"), ("fpr", "1%"), ("memory", "10")],
                "use more memory",
            ),
            (
                &[("keys", "5"), ("fpr", "1%"), ("cost_skip", "x")],
                "give a number",
            ),
        ] {
            let error = answer(pairs).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn curves_follow_the_request_and_have_finite_numbers() {
        let pairs = [
            ("keys", "50000"),
            ("cost-skip", "0.001"),
            ("cost-lookup", "5"),
            ("present", "0.1"),
            ("cost-gib", "3e6"),
        ];
        let answer = answer(&pairs).unwrap();
        let page = &answer["page"];
        for curves in ["past_capacity", "sizes", "costs"] {
            let lines = page[curves]["lines"].as_array().unwrap();
            assert!(lines.len() >= 2, "{curves}");
            for line in lines {
                let points = line["points"].as_array().unwrap();
                assert!(points.len() > 1, "{line}");
                assert!(points.iter().all(|point| point[1].is_number()), "{line}");
            }
        }
        assert_eq!(
            page["costs"]["best"],
            answer["cost"]["best"]["false_positive_rate"]
        );
    }
}
