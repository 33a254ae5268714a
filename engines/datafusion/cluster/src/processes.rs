//! The processes of the cluster. Each registers the functions with one call; nothing else is adapted.

use crate::shuffle::CountingEngine;
use crate::wrong;
use ballista::prelude::SessionContextExt;
use ballista_core::error::BallistaError;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::{default_config_producer, default_session_builder};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The state of a session that knows the functions.
fn session_state(config: SessionConfig) -> Result<SessionState> {
    let mut state = default_session_builder(config)?;
    mayhap_datafusion::register_all(&mut state)?;
    Ok(state)
}

pub(crate) async fn scheduler(port: u16) -> Result<()> {
    let config = SchedulerConfig::default()
        .with_hostname("127.0.0.1")
        .with_port(port)
        .with_override_session_builder(Arc::new(session_state));
    let cluster = BallistaCluster::new_from_config(&config).await;
    let cluster = cluster.map_err(failed)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let server = start_server(cluster, address, Arc::new(config));
    server.await.map_err(failed)
}

pub(crate) async fn executor(ports: [u16; 3], folder: &str) -> Result<()> {
    let [scheduler_port, port, grpc_port] = ports;
    let state = session_state(default_config_producer())?;
    let config = ExecutorProcessConfig {
        external_host: Some("127.0.0.1".to_owned()),
        scheduler_host: "127.0.0.1".to_owned(),
        scheduler_port,
        port,
        grpc_port,
        // Two executors share the machine's two cores.
        concurrent_tasks: 1,
        work_dir: Some(folder.to_owned()),
        override_execution_engine: Some(Arc::new(CountingEngine::default())),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        ..ExecutorProcessConfig::default()
    };
    let executor = start_executor_process(Arc::new(config));
    executor.await.map_err(failed)
}

fn failed(error: BallistaError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// A scheduler and two executors, until it is dropped.
pub(crate) struct Cluster {
    processes: Vec<Child>,
    port: u16,
}

impl Cluster {
    /// The executors keep their shuffle files below `folder`.
    pub(crate) async fn start(folder: &Path) -> Result<Self> {
        let port = free_port()?;
        let mut cluster = Self {
            processes: Vec::new(),
            port,
        };
        cluster.start_process(&["scheduler".to_owned(), port.to_string()])?;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            cluster.wait_for_start().await?;
        }
        for name in ["one", "two"] {
            let folder = folder.join(name);
            std::fs::create_dir_all(&folder)?;
            let executor_port = free_port()?;
            let ports = [port, executor_port, free_port()?].map(|port| port.to_string());
            let folder = folder.display().to_string();
            let arguments = ["executor".to_owned()].into_iter().chain(ports);
            cluster.start_process(&arguments.chain([folder]).collect::<Vec<_>>())?;
            while TcpStream::connect((Ipv4Addr::LOCALHOST, executor_port)).is_err() {
                cluster.wait_for_start().await?;
            }
        }
        Ok(cluster)
    }

    fn start_process(&mut self, arguments: &[String]) -> Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        let process = command.args(arguments).stdin(Stdio::null());
        self.processes.push(process.spawn()?);
        Ok(())
    }

    async fn wait_for_start(&mut self) -> Result<()> {
        for process in &mut self.processes {
            if let Some(status) = process.try_wait()? {
                return Err(wrong(format!("a process of the cluster ended: {status}")));
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(())
    }

    pub(crate) async fn session(&self, config: SessionConfig) -> Result<SessionContext> {
        let url = format!("df://127.0.0.1:{}", self.port);
        let state = default_session_builder(config)?;
        let mut context = SessionContext::remote_with_state(&url, state).await?;
        mayhap_datafusion::register_all(&mut context)?;
        Ok(context)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // It may have ended already.
            drop(process.kill());
            drop(process.wait());
        }
    }
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
