import type { TextTask, TextTasks } from '../../core/text-tasks.ts';
import { readReportMessage } from '../../../mail/reports/read-report.ts';
import { composeIndexed, indexOctets } from '../compose-indexed.ts';
import { isStopReply } from '../stop-reply.ts';
import { readOriginalTexts } from '../original-texts.ts';
import { parseMailPreview } from '../mail-preview.ts';
import { readDocument, readFile } from '../file-text.ts';
import { readOpening, readTexts } from '../read-texts.ts';

/** Parsers of untrusted text by name: functions of plain data, so that any thread can run them. */
const TASKS: { readonly [N in TextTask]: (job: TextTasks[N]['job']) => TextTasks[N]['result'] } = {
  texts: readTexts,
  opening: readOpening,
  original: readOriginalTexts,
  file: readFile,
  document: readDocument,
  mail: parseMailPreview,
  stop: isStopReply,
  compose: composeIndexed,
  index: indexOctets,
  report: readReportMessage,
};

export type TextJob<N extends TextTask> = TextTasks[N]['job'];
export type TextResult<N extends TextTask> = TextTasks[N]['result'];
/** `failed`: the error that was thrown. */
export type TaskOutcome<N extends TextTask = TextTask> = { value: TextResult<N> } | { failed: string };

/** Runs one task. Untrusted input may make it fail, which is returned and not thrown. */
export function performTask<N extends TextTask>(name: N, job: TextJob<N>): TaskOutcome<N> {
  try {
    return { value: TASKS[name](job) };
  } catch (error) {
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
