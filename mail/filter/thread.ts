import { parentPort } from 'node:worker_threads';
import { type Log, type Meter, quiet } from '../log.ts';
import { cpuOfThread, collectWhenIdle } from '../store/engine/idle-gc.ts';
import { sampleWords } from '../store/filter/sample-words.ts';
import type { MailFilter } from './mail-filter.ts';
import type { FromFilterThread, ToFilterThread } from './thread-messages.ts';

const HEARTBEAT_INTERVAL_MS = 250;

/** Passes log lines and metrics of the filter thread to the main thread. */
export const threadReporter: Log & Meter = {
  ...quiet,
  info: (fields, text) => postLine('info', fields, text),
  warn: (fields, text) => postLine('warn', fields, text),
  error: (fields, text) => postLine('warn', fields, text),
  count: (name, labels = {}) => post({ kind: 'metric', name, labels }),
};

let lastBeatAt = -Infinity;

/** Reports progress, so that many messages that resume at the same moment are not taken for a loop. */
export function heartbeat(): void {
  if (performance.now() - lastBeatAt >= HEARTBEAT_INTERVAL_MS) beat();
}

function beat(): void {
  lastBeatAt = performance.now();
  post({ kind: 'heartbeat', cpu: cpuOfThread() });
}

/** Passes on a log line. Of an error only the message crosses threads. */
function postLine(level: 'info' | 'warn', { err, ...rest }: object & { err?: Error }, text: string): void {
  post({ kind: 'log', level, fields: err === undefined ? rest : { ...rest, reason: err.message }, text });
}

function post(message: FromFilterThread): void {
  parentPort?.postMessage(message);
}

type FilterThreadRequest = Exclude<ToFilterThread, { kind: 'close' }>;

/** Runs the filter thread. `close` releases the resources of the filter. */
export function runFilterThread(filter: MailFilter, close: () => void): void {
  const port = parentPort;
  if (port === null) throw new Error('this module runs as the filter thread, not as a program');
  collectWhenIdle();
  let open = 0;
  let timer: NodeJS.Timeout | undefined;
  const handle = async (request: FilterThreadRequest): Promise<void> => {
    if (open++ === 0) {
      beat();
      timer = setInterval(beat, HEARTBEAT_INTERVAL_MS);
    }
    await respond(filter, request);
    if (--open === 0) clearInterval(timer);
  };
  port.on('message', (message: ToFilterThread) => {
    if (message.kind !== 'close') return void handle(message);
    clearInterval(timer);
    close();
    port.close();
  });
}

async function respond(filter: MailFilter, request: FilterThreadRequest): Promise<void> {
  const { id } = request;
  post({ kind: 'started', id });
  try {
    const value = request.kind === 'filter' ? await filter.filter(request.mail) : await sampleWords(request.source);
    post({ kind: 'response', id, value });
  } catch (error) {
    const { message, stack } = error as Error;
    post({ kind: 'failed', id, message, stack: stack ?? '' });
  }
}
