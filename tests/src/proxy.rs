//! A TCP proxy in front of one kube-apiserver, to cut, hang and slow what passes, and to count its bytes.
//! It must never look into what passes (it is TLS), nor let a byte through while the network is cut.

use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// What happens to traffic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Weather {
    cut: bool,
    hung: bool,
    delay: Duration,
    /// Connections of an older epoch are closed.
    epoch: u64,
}

#[derive(Debug, Default)]
struct Counters {
    to_server: AtomicU64,
    to_client: AtomicU64,
}

/// A proxy on a port of its own, open as long as its runtime lives.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    weather: watch::Sender<Weather>,
    counters: Arc<Counters>,
}

impl Proxy {
    /// Listens on loopback and passes connections to `target`, by tasks on `runtime`.
    ///
    /// # Errors
    /// When no port can be opened.
    pub fn start(target: u16, runtime: &Handle) -> anyhow::Result<Self> {
        let listener =
            StdListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot open a port for a proxy")?;
        listener.set_nonblocking(true).context("cannot set up the port of a proxy")?;
        let port = listener.local_addr().context("cannot read the port of a proxy")?.port();
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener).context("cannot hand the port of a proxy to the runtime")?
        };
        let weather = watch::Sender::new(Weather::default());
        let counters = Arc::new(Counters::default());
        runtime.spawn(accept(listener, target, weather.subscribe(), counters.clone()));
        Ok(Self { port, weather, counters })
    }

    /// The port that clients use.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes all connections and refuses new ones, until [`Proxy::heal`].
    pub fn cut(&self) {
        self.weather.send_modify(|weather| weather.cut = true);
    }

    /// Keeps connections, and takes new ones, but lets nothing pass, until [`Proxy::heal`]: packets are lost somewhere.
    pub fn hang(&self) {
        self.weather.send_modify(|weather| weather.hung = true);
    }

    /// Delays each piece of at most 64 KiB, in each direction, by `latency`.
    pub fn slow(&self, latency: Duration) {
        self.weather.send_modify(|weather| weather.delay = latency);
    }

    /// Ends cut, hang and slow.
    pub fn heal(&self) {
        self.weather.send_modify(|weather| *weather = Weather { epoch: weather.epoch, ..Weather::default() });
    }

    /// Closes all connections once; new ones are taken as before.
    pub fn drop_connections(&self) {
        self.weather.send_modify(|weather| weather.epoch += 1);
    }

    /// Bytes passed so far: (to the server, to the clients).
    pub fn bytes(&self) -> (u64, u64) {
        (self.counters.to_server.load(Ordering::Relaxed), self.counters.to_client.load(Ordering::Relaxed))
    }
}

/// Ends when the proxy is dropped: nobody is left to heal it.
async fn accept(
    listener: TcpListener,
    target: u16,
    mut weather: watch::Receiver<Weather>,
    counters: Arc<Counters>,
) {
    loop {
        let client = tokio::select! {
            accepted = listener.accept() => accepted,
            changed = weather.changed() => {
                if changed.is_err() {
                    return;
                }
                continue;
            }
        };
        match client {
            Ok((client, _)) if !weather.borrow().cut => {
                tokio::spawn(connection(client, target, weather.clone(), counters.clone()));
            }
            Ok(_) => {}
            // Out of file handles, most likely: give others time to close theirs.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn connection(
    client: TcpStream,
    target: u16,
    weather: watch::Receiver<Weather>,
    counters: Arc<Counters>,
) {
    let epoch = weather.borrow().epoch;
    // Without a server there is nothing to pass on: the client sees a closed connection.
    let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)).await else { return };
    for stream in [&client, &server] {
        let _ = stream.set_nodelay(true);
    }
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // The first direction that ends closes both: half-open connections are of no use to HTTP.
    tokio::select! {
        () = pass(from_client, to_server, weather.clone(), epoch, &counters.to_server) => {}
        () = pass(from_server, to_client, weather.clone(), epoch, &counters.to_client) => {}
        () = closed(weather, epoch) => {}
    }
}

/// Until the network is cut or this connection is to be dropped.
async fn closed(mut weather: watch::Receiver<Weather>, epoch: u64) {
    // An error means that the proxy is gone.
    let _ = weather.wait_for(|now| now.cut || now.epoch != epoch).await;
}

async fn pass<R, W>(
    mut from: R,
    mut to: W,
    mut weather: watch::Receiver<Weather>,
    epoch: u64,
    count: &AtomicU64,
) where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = match from.read(&mut buffer).await {
            Ok(length) if length > 0 => length,
            _ => return,
        };
        let delay = weather.borrow().delay;
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        match weather.wait_for(|now| !now.hung).await {
            Ok(now) if !now.cut && now.epoch == epoch => {}
            _ => return,
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
        count.fetch_add(length as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each byte with the same byte.
    async fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await
                });
            }
        });
        port
    }

    async fn round_trip(stream: &mut TcpStream) -> std::io::Result<u8> {
        stream.write_all(b"x").await?;
        stream.read_u8().await
    }

    #[tokio::test]
    async fn cut_closes_connections_refuses_new_ones_and_heals() {
        let proxy = Proxy::start(echo().await, &Handle::current()).unwrap();
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port()));
        let mut stream = connect().await.unwrap();
        assert_eq!(round_trip(&mut stream).await.unwrap(), b'x');
        assert_eq!(proxy.bytes(), (1, 1));
        proxy.cut();
        assert!(round_trip(&mut stream).await.is_err());
        let refused = match connect().await {
            Ok(mut stream) => round_trip(&mut stream).await.is_err(),
            Err(_) => true,
        };
        assert!(refused);
        proxy.heal();
        assert_eq!(round_trip(&mut connect().await.unwrap()).await.unwrap(), b'x');
    }

    #[tokio::test]
    async fn hang_keeps_the_connection_and_lets_nothing_pass_until_healed() {
        let proxy = Proxy::start(echo().await, &Handle::current()).unwrap();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).await.unwrap();
        round_trip(&mut stream).await.unwrap();
        proxy.hang();
        stream.write_all(b"y").await.unwrap();
        let silent = tokio::time::timeout(Duration::from_millis(100), stream.read_u8()).await;
        assert!(silent.is_err());
        proxy.heal();
        assert_eq!(stream.read_u8().await.unwrap(), b'y');
        proxy.drop_connections();
        assert!(round_trip(&mut stream).await.is_err());
    }
}
