//! classic
use crate::PlanError;
pub fn bits(keys: u64, rate: f64) -> Result<u64, PlanError> {
    Ok((-(keys as f64) * libm::log(rate) / 0.4804530139182014) as u64 + 1)
}
