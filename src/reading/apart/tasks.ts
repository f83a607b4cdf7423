import { saysStop } from '../../digest/own-words.ts';
import { readOriginalTexts } from '../../sending/original-texts.ts';
import { readMail } from '../beginning.ts';
import { readDocument, readFile } from '../file-text.ts';
import { readOpening, readTexts } from '../read-texts.ts';

/** Everything that takes text of strangers apart, by name: functions of plain data, so that any thread can do it. */
const TASKS = {
  texts: readTexts,
  opening: readOpening,
  original: readOriginalTexts,
  file: readFile,
  document: readDocument,
  mail: readMail,
  stop: saysStop,
};

export type TaskName = keyof typeof TASKS;
export type Job<N extends TaskName> = Parameters<(typeof TASKS)[N]>[0];
export type Result<N extends TaskName> = ReturnType<(typeof TASKS)[N]>;
/** `failed`: what it threw. */
export type Outcome<N extends TaskName = TaskName> = { value: Result<N> } | { failed: string };

/** Does one of them. What a stranger wrote may make it fail, which is said and not thrown. */
export function perform<N extends TaskName>(name: N, job: Job<N>): Outcome<N> {
  try {
    return { value: (TASKS[name] as (job: Job<N>) => Result<N>)(job) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
