import { type MessagePort, parentPort } from 'node:worker_threads';
import { type Log, type Meter, quiet } from '../log.ts';
import { lessonWords } from '../store/lesson-words.ts';
import type { Judge } from './judging.ts';
import type { FromJudge, ToJudge } from './messages.ts';

/** What is said and counted in the judge's thread, by the main one. Errors lose what they are on the way: their text goes. */
export function fromThread(): Log & Meter {
  const tell = (message: FromJudge): void => parentPort?.postMessage(message);
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
  };
}

/** The body of the judge's thread. `close` gives back what the judge holds. */
export function runJudgeThread(judge: Judge, close: () => void): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is the thread of the judge, not a program');
  port.on('message', (message: ToJudge) => {
    if (message.kind !== 'close') {
      void answer(port, judge, message);
      return;
    }
    close();
    port.close();
  });
}

async function answer(port: MessagePort, judge: Judge, asked: Exclude<ToJudge, { kind: 'close' }>): Promise<void> {
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
