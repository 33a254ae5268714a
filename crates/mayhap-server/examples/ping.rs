//! The smallest service: it answers PING, ECHO and SHUTDOWN, and remembers nothing. For measuring what sockets cost.
//!
//!     cargo run --release -p mayhap-server --example ping -- 127.0.0.1:6399 2 [certificate.pem key.pem]

use mayhap_server::net::{AfterReply, ClientHandle, ListenOptions, Service, start, tls};
use mayhap_server::resp::RequestLimits;
use std::sync::Arc;

struct Ping(RequestLimits);

impl Service for Ping {
    type Session = ();

    fn connect(&self, _: ClientHandle) -> Result<(), Vec<u8>> {
        Ok(())
    }

    fn limits(&self, (): &()) -> &RequestLimits {
        &self.0
    }

    fn serve(&self, (): &mut (), words: &[&[u8]], out: &mut Vec<u8>) -> AfterReply {
        match words {
            [name] if name.eq_ignore_ascii_case(b"PING") => out.extend_from_slice(b"+PONG\r\n"),
            [name, word] if name.eq_ignore_ascii_case(b"ECHO") => {
                out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
                out.extend_from_slice(word);
                out.extend_from_slice(b"\r\n");
            }
            [name] if name.eq_ignore_ascii_case(b"SHUTDOWN") => return AfterReply::ShutDown,
            _ => out.extend_from_slice(b"-ERR unknown command\r\n"),
        }
        AfterReply::GoOn
    }

    fn settle<'s>(&self, _: &mut dyn Iterator<Item = (&'s mut (), &'s mut Vec<u8>)>)
    where
        (): 's,
    {
    }

    fn disconnect(&self, (): ()) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:6399".to_owned());
    let workers = arguments.next().unwrap_or("2".to_owned());
    let mut listening = ListenOptions {
        workers: workers.parse()?,
        max_clients: 50_000,
        ..ListenOptions::default()
    };
    let addresses = vec![address.parse()?];
    if let (Some(certificate), Some(key)) = (arguments.next(), arguments.next()) {
        let config = tls::load(certificate.as_ref(), key.as_ref(), None)?;
        listening.tls = Some((addresses, config));
    } else {
        listening.addresses = addresses;
    }
    let running = start(listening, Arc::new(Ping(RequestLimits::default())))?;
    eprintln!("listening at {:?}", running.addresses);
    running.wait();
    Ok(running.stop()?)
}
