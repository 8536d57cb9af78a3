// Opens keep-alive connections that do nothing after one answered request each: idle.js PORT COUNT
// Prints "open N" when all are answered and keeps them until it is ended. From several source
// addresses, because one has too few ports for all, and from others for each server, because the
// kernel keeps the ports of closed connections for a minute.
import net from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
const perAddress = 20000;
const network = `127.${1 + ((port >> 8) % 254)}.${port & 255}`;
const atOnce = 256;
const request = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const sockets = [];
let opened = 0;
let answered = 0;

function fail(why) {
  console.error(`idle: ${why} after ${answered} of ${count} connections`);
  process.exit(1);
}

function open() {
  if (opened === count) return;
  const localAddress = `${network}.${1 + Math.floor(opened / perAddress)}`;
  opened += 1;
  const socket = net.connect({ host: '127.0.0.1', port, localAddress }, () => socket.write(request));
  socket.once('data', (bytes) => {
    const line = bytes.toString('latin1', 0, 12);
    if (line !== 'HTTP/1.1 200' && line !== 'HTTP/1.1 201') fail(`an answer ${line}`);
    answered += 1;
    if (answered === count) console.log(`open ${count}`);
    open();
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('a connection was closed'));
  sockets.push(socket);
}
for (let i = 0; i < atOnce; i += 1) open();
