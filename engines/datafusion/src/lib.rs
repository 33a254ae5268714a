//! Membership filters in DataFusion, with Spark's names: the small side of a join becomes a filter that discards most rows of the large
//! side before they are sent anywhere.
//!
//! ```
//! # use datafusion::prelude::SessionContext;
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> datafusion::error::Result<()> {
//! let mut context = SessionContext::new();
//! mayhap_datafusion::register_all(&mut context)?;
//! # context.sql("create table customers(id bigint) as values (1), (2)").await?;
//! # context.sql("create table orders(customer bigint) as values (1), (2), (3)").await?;
//! let reduced = context.sql(
//!     "select * from orders
//!      where might_contain((select bloom_filter_agg(id, 1000, 0.001) from customers), customer)",
//! ).await?;
//! # assert_eq!(reduced.count().await?, 2);
//! # Ok(()) }
//! ```
//!
//! | function | result |
//! | --- | --- |
//! | `bloom_filter_agg(key [, expected [, rate [, format]]])` | a filter of the keys, NULL if there are none |
//! | `bloom_filter_merge(filter)` | the union of filters of one shape |
//! | `might_contain(filter, key)` | FALSE is certain; NULL if one of the two is |
//!
//! The arguments fix the size of a filter, so that filters of many partitions merge to the bytes of one. docs/guide/engines.md has the
//! types and their key bytes.

mod arguments;
mod bloom_filter_agg;
mod bloom_filter_merge;
mod filter_bytes;
mod keys;
mod might_contain;

use datafusion_common::Result;
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{AggregateUDF, ScalarUDF};
use std::sync::Arc;

/// The aggregate functions.
pub fn aggregate_functions() -> Vec<Arc<AggregateUDF>> {
    vec![
        Arc::new(bloom_filter_agg::BloomFilterAgg::new().into()),
        Arc::new(bloom_filter_merge::BloomFilterMerge::new().into()),
    ]
}

/// The scalar functions.
pub fn scalar_functions() -> Vec<Arc<ScalarUDF>> {
    vec![Arc::new(might_contain::MightContain::new().into())]
}

/// Registers all functions, in a session or in the registry of a cluster's executors.
///
/// # Errors
/// When the registry accepts no functions.
pub fn register_all(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in aggregate_functions() {
        registry.register_udaf(function)?;
    }
    for function in scalar_functions() {
        registry.register_udf(function)?;
    }
    Ok(())
}
