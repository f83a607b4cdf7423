import { type MessagePort, parentPort } from 'node:worker_threads';
import type { Judge } from './judging.ts';
import type { FromJudge, ToJudge } from './messages.ts';

/** The body of the judge's thread. `close` gives back what the judge holds. */
export function runJudgeThread(judge: Judge, close: () => void): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is the thread of the judge, not a program');
  port.on('message', (message: ToJudge) => {
    if (message.kind === 'judge') {
      void answer(port, judge, message);
      return;
    }
    close();
    port.close();
  });
}

async function answer(port: MessagePort, judge: Judge, { id, mail }: ToJudge & { kind: 'judge' }): Promise<void> {
  const say = (message: FromJudge): void => port.postMessage(message);
  try {
    say({ kind: 'judged', id, judgement: await judge.judge(mail) });
  } catch (error) {
    const { message, stack } = error as Error;
    say({ kind: 'failed', id, message, stack: stack ?? '' });
  }
}
