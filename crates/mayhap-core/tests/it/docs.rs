//! The mathematics page refers to functions of `plan`: each of them exists, and this list has all of them.

use std::collections::BTreeSet;

/// The names of paths, which the compiler has resolved.
macro_rules! names {
    ($($path:path),* $(,)?) => {{
        $(let _ = $path;)*
        [$(stringify!($path)),*]
    }};
}

#[test]
fn every_function_on_the_mathematics_page_exists() {
    use mayhap_core::plan;
    let mut known: BTreeSet<String> = names![
        plan::classic::rate,
        plan::classic::best_probes,
        plan::classic::ideal_bits_per_key,
        plan::classic::bits,
        plan::classic::plan,
        plan::classic::estimated_keys,
        plan::classic::estimated_keys_error,
        plan::classic::rate_from_set_bits,
        plan::BloomPlan::rate_at,
        plan::counting::poisson_tail,
        plan::CuckooPlan::rate_at,
        plan::GrowingPlan::layer,
        plan::GrowingPlan::with_maximum,
        plan::WindowPlan::with_slices,
        plan::FusePlan::new,
        plan::RibbonPlan::new,
        plan::ExceptingPlan::size_bytes,
        plan::cost::LookupCosts::filter_cost,
        plan::cost::LookupCosts::exact_cost,
        plan::cost::LookupCosts::extra_cost,
    ]
    .into_iter()
    .map(|path| path.replace(' ', ""))
    .collect();
    let page = include_str!("../../../../docs/guide/mathematics.md");
    let is_path = |c: char| c.is_alphanumeric() || c == ':' || c == '_';
    let named: BTreeSet<String> = page
        .split(|c| !is_path(c))
        .filter(|word| word.starts_with("plan::"))
        .map(|word| word.trim_end_matches(':').to_owned())
        .collect();
    // A type on the page stands for its constructor.
    known.extend(["plan::FusePlan", "plan::RibbonPlan"].map(String::from));
    known.retain(|path| !["plan::FusePlan::new", "plan::RibbonPlan::new"].contains(&path.as_str()));
    assert_eq!(named, known);
}
