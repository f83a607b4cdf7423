import { parentPort } from 'node:worker_threads';
import type { TextTask } from '../../core/text-tasks.ts';
import { type TextJob, performTask } from './tasks.ts';

// Worker thread of text-reader.ts: reads one text at a time.
parentPort?.on('message', ({ name, job }: { name: TextTask; job: TextJob<TextTask> }) => {
  parentPort?.postMessage(performTask(name, job));
});
