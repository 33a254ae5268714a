//! A filter that can be shared with a long reader, such as a snapshot or a merge. It does not change while it is shared; a write
//! is retried later ([`CommandError::Busy`](crate::call::CommandError)).

use crate::keyspace::LARGE_BYTES;
use mayhap_command::Slot;
use std::ops::Deref;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct SharedSlot(Option<Arc<Slot>>);

static MISSING: Slot = Slot::Missing;

impl SharedSlot {
    pub(crate) fn new(slot: Slot) -> Self {
        Self(Some(Arc::new(slot)))
    }

    /// Shares the current filter.
    pub(crate) fn share(&self) -> Arc<Slot> {
        self.0.clone().unwrap_or_default()
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|slot| Arc::strong_count(slot) > 1)
    }

    /// The filter for writing; `None` while it is shared.
    pub(crate) fn get_mut(&mut self) -> Option<&mut Slot> {
        self.0.as_mut().and_then(Arc::get_mut)
    }
}

impl Deref for SharedSlot {
    type Target = Slot;

    fn deref(&self) -> &Slot {
        self.0.as_deref().unwrap_or(&MISSING)
    }
}

/// Frees large filters on a background thread. Freeing a gigabyte takes a tenth of a second, which no client should wait for.
static FREEING: LazyLock<Mutex<Sender<Arc<Slot>>>> = LazyLock::new(|| {
    let (sender, dropped) = channel::<Arc<Slot>>();
    // Without the thread, each is freed where it is dropped.
    let _ = std::thread::Builder::new()
        .name("free".to_owned())
        .spawn(move || dropped.into_iter().for_each(drop));
    Mutex::new(sender)
});

impl Drop for SharedSlot {
    fn drop(&mut self) {
        if let Some(slot) = self.0.take()
            && slot.size_bytes() >= LARGE_BYTES
        {
            let sender = FREEING.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(slot);
        }
    }
}
