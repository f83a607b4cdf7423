import { type MessagePort, parentPort } from 'node:worker_threads';
import { type Log, type Meter, quiet } from '../log.ts';
import { cpuOfThread, giveBackAtRest } from '../store/engine/at-rest.ts';
import { lessonWords } from '../store/lesson-words.ts';
import type { Judge } from './judging.ts';
import type { FromJudge, ToJudge } from './messages.ts';

/** How those in the judge's thread are heard in the main one. */
interface Voice extends Log, Meter {
  /** The thread has got on with something. Many messages that wait for the same moment are no loop of one of them. */
  alive(): void;
}

/** What is said and counted in the judge's thread, by the main one. Errors lose what they are on the way: their text goes. */
export function fromThread(): Voice {
  const tell = (message: FromJudge): void => parentPort?.postMessage(message);
  let saidAt = -Infinity;
  const line =
    (level: 'info' | 'warn') =>
    (fields: object, text: string): void => {
      const { err, ...rest } = fields as { err?: Error };
      tell({ kind: 'said', level, fields: err === undefined ? rest : { ...rest, reason: err.message }, text });
    };
  return {
    ...quiet,
    info: line('info'),
    warn: line('warn'),
    error: line('warn'),
    count: (name, labels = {}) => tell({ kind: 'counted', name, labels }),
    alive: () => {
      if (performance.now() - saidAt < PULSE_MS) return;
      saidAt = performance.now();
      tell({ kind: 'works', cpu: cpuOfThread() });
    },
  };
}

const PULSE_MS = 250;

/** The body of the judge's thread. `close` gives back what the judge holds. */
export function runJudgeThread(judge: Judge, close: () => void): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is the thread of the judge, not a program');
  giveBackAtRest();
  let open = 0;
  let pulse: NodeJS.Timeout | undefined;
  const beat = (): void => port.postMessage({ kind: 'works', cpu: cpuOfThread() } satisfies FromJudge);
  const work = async (asked: Asked): Promise<void> => {
    if (open++ === 0) {
      beat();
      pulse = setInterval(beat, PULSE_MS);
    }
    port.postMessage({ kind: 'begun', id: asked.id } satisfies FromJudge);
    await answer(port, judge, asked);
    if (--open === 0) clearInterval(pulse);
  };
  port.on('message', (message: ToJudge) => {
    if (message.kind !== 'close') {
      void work(message);
      return;
    }
    clearInterval(pulse);
    close();
    port.close();
  });
}

type Asked = Exclude<ToJudge, { kind: 'close' }>;

async function answer(port: MessagePort, judge: Judge, asked: Asked): Promise<void> {
  const { id } = asked;
  const say = (message: FromJudge): void => port.postMessage(message);
  try {
    const value = asked.kind === 'judge' ? await judge.judge(asked.mail) : await lessonWords(asked.source);
    say({ kind: 'answer', id, value });
  } catch (error) {
    const { message, stack } = error as Error;
    say({ kind: 'failed', id, message, stack: stack ?? '' });
  }
}
