import { parentPort } from 'node:worker_threads';
import { type Job, perform, type TaskName } from './tasks.ts';

// The body of the thread that text-reader.ts starts: one text after the other.
parentPort?.on('message', ({ name, job }: { name: TaskName; job: Job<TaskName> }) => {
  parentPort?.postMessage(perform(name, job));
});
