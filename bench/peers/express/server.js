// What people build: Express, one Redis, and a Lua script that takes all places or none. Places are
// counted, a hold is a key that Redis lets expire; whoever gives its places back would come on top.
import express from 'express';
import { createClient, defineScript } from '@redis/client';
import { randomBytes } from 'node:crypto';

const holdSeconds = 300;
const price = 4500;

const claim = defineScript({
  NUMBER_OF_KEYS: 2,
  SCRIPT: `
    local free = tonumber(redis.call('GET', KEYS[1]))
    local wanted = tonumber(ARGV[1])
    if not free or free < wanted then return -1 end
    redis.call('DECRBY', KEYS[1], wanted)
    redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
    return free - wanted`,
  parseCommand(parser, stock, hold, quantity, text) {
    parser.pushKey(stock);
    parser.pushKey(hold);
    parser.push(String(quantity), text, String(holdSeconds));
  },
  transformReply: (left) => left,
});

const [listenPort, redisPort] = process.argv.slice(2).map(Number);
const redis = createClient({ url: `redis://127.0.0.1:${redisPort}`, scripts: { claim } });
redis.on('error', (error) => { console.error(error.message); process.exit(1); });
await redis.connect();

function problem(response, status, kind) {
  response.status(status).type('application/problem+json').send(JSON.stringify({ type: kind, status }));
}

const app = express();
app.disable('etag');
app.disable('x-powered-by');
app.use(express.json());
app.get('/healthz', (request, response) => response.sendStatus(200));
app.post('/v1/events/:event/holds', async (request, response) => {
  const { section, quantity } = request.body ?? {};
  if (typeof section !== 'string' || !Number.isSafeInteger(quantity) || quantity < 1) {
    return problem(response, 422, 'invalid');
  }
  const { event } = request.params;
  const hold = `h_${randomBytes(16).toString('hex')}`;
  const token = randomBytes(16).toString('hex');
  const kept = JSON.stringify({ event, section, quantity, token });
  const left = await redis.claim(`stock:${event}:${section}`, `hold:${hold}`, quantity, kept);
  if (left < 0) return problem(response, 409, 'sold-out');
  const now = Date.now();
  return response.status(201).location(`/v1/holds/${hold}`).json({
    hold, token, event, state: 'held', seats: [], general: [{ section, quantity }], total: quantity * price,
    currency: 'EUR', server_time: new Date(now).toISOString(),
    expires_at: new Date(now + holdSeconds * 1000).toISOString(), expires_in_s: holdSeconds,
  });
});
app.use((error, request, response, next) => {
  if (response.headersSent) return next(error);
  return problem(response, error.status ?? 500, 'error');
});
const server = app.listen(listenPort, '127.0.0.1', 4096);
server.keepAliveTimeout = 3600 * 1000;  // as long as the others keep idle connections
