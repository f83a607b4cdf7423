import { type MessagePort, parentPort } from 'node:worker_threads';
import { lessonWords } from '../store/lesson-words.ts';
import type { Judge } from './judging.ts';
import type { FromJudge, ToJudge } from './messages.ts';

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

type Asked = Exclude<ToJudge, { kind: 'close' }>;

async function answer(port: MessagePort, judge: Judge, asked: Asked): Promise<void> {
  const say = (message: FromJudge): void => port.postMessage(message);
  const { id } = asked;
  try {
    if (asked.kind === 'judge') say({ kind: 'judged', id, judgement: await judge.judge(asked.mail) });
    else say({ kind: 'read', id, words: await lessonWords(asked.source) });
  } catch (error) {
    const { message, stack } = error as Error;
    say({ kind: 'failed', id, message, stack: stack ?? '' });
  }
}
