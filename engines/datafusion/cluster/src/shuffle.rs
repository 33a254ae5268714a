//! What a job sent between its stages: each executor counts what its tasks wrote for other stages. The files themselves are gone when the
//! job has ended, because the scheduler removes them.

use ballista_core::JobId;
use ballista_core::serde::protobuf::ShuffleWritePartition;
use ballista_executor::execution_engine::{
    DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor,
};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::prelude::SessionConfig;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file below an executor's folder with a line for each task: its stage, and the rows and bytes that it wrote.
const COUNTS: &str = "counts";

#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Shuffled {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// Sums what the tasks of the only job since the last call wrote, without its last stage, which is the result.
pub(crate) fn take(folder: &Path) -> Result<Shuffled> {
    let mut stages: BTreeMap<u64, Shuffled> = BTreeMap::new();
    for executor in std::fs::read_dir(folder)? {
        let path = executor?.path().join(COUNTS);
        if !path.exists() {
            continue;
        }
        for line in std::fs::read_to_string(&path)?.lines() {
            let mut numbers = line.split(' ').map(crate::number::<u64>);
            let mut next = || {
                let missing = || crate::wrong(format!("a count is incomplete: {line}"));
                numbers.next().ok_or_else(missing)?
            };
            let (stage, rows, bytes) = (next()?, next()?, next()?);
            let sum = stages.entry(stage).or_default();
            sum.rows += rows;
            sum.bytes += bytes;
        }
        std::fs::remove_file(path)?;
    }
    stages.pop_last();
    let all = stages.into_values();
    Ok(all.fold(Shuffled::default(), |sum, stage| Shuffled {
        rows: sum.rows + stage.rows,
        bytes: sum.bytes + stage.bytes,
    }))
}

/// Ballista's own engine, whose tasks are counted.
#[derive(Default)]
pub(crate) struct CountingEngine(DefaultExecutionEngine);

impl ExecutionEngine for CountingEngine {
    fn create_query_stage_exec(
        &self,
        job_id: JobId,
        stage_id: usize,
        partition_id: usize,
        plan: Arc<dyn ExecutionPlan>,
        work_dir: &str,
        config: &SessionConfig,
    ) -> Result<Arc<dyn QueryStageExecutor>> {
        let stage = self.0.create_query_stage_exec(
            job_id,
            stage_id,
            partition_id,
            plan,
            work_dir,
            config,
        )?;
        Ok(Arc::new(CountedStage {
            stage,
            stage_id,
            counts: Path::new(work_dir).join(COUNTS),
        }))
    }
}

#[derive(Debug)]
struct CountedStage {
    stage: Arc<dyn QueryStageExecutor>,
    stage_id: usize,
    counts: PathBuf,
}

impl fmt::Display for CountedStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.fmt(f)
    }
}

#[async_trait::async_trait]
impl QueryStageExecutor for CountedStage {
    async fn execute_query_stage(
        &self,
        input_partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<Vec<ShuffleWritePartition>> {
        let written = self
            .stage
            .execute_query_stage(input_partition, context)
            .await?;
        let rows: u64 = written.iter().map(|part| part.num_rows).sum();
        let bytes: u64 = written.iter().map(|part| part.num_bytes).sum();
        let mut counts = OpenOptions::new();
        let mut counts = counts.create(true).append(true).open(&self.counts)?;
        counts.write_all(format!("{} {rows} {bytes}\n", self.stage_id).as_bytes())?;
        Ok(written)
    }

    fn collect_plan_metrics(&self) -> Vec<MetricsSet> {
        self.stage.collect_plan_metrics()
    }
}
