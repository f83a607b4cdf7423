import { callServer, type ControlAnswer } from '../operator-socket/client.ts';
import { FAILED, printError, printJsonError, USAGE_ERROR } from './output.ts';
import type { ProgramInput } from './program.ts';

/** A call that the server refused, or that did not reach it. */
class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Runs an operation on the server of the data directory. Throws if it is refused or not reached. */
export async function callOperation<T>(dataDir: string, operation: string, input: object): Promise<T> {
  const answer: ControlAnswer = await callServer(dataDir, operation, input);
  if (answer.kind === 'done') return answer.result as T;
  throw new CallFailed(answer.kind === 'refused' ? answer.code : answer.kind, answer.message);
}

/** Runs `body` with the data directory; a refused call becomes one sentence. Returns the exit code. */
export async function withServer(input: ProgramInput, body: (dataDir: string) => Promise<number>): Promise<number> {
  const dataDir = input.dataDir();
  if (dataDir === undefined) return USAGE_ERROR;
  try {
    return await body(dataDir);
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    if (input.options.json !== true) return printError(error.message, FAILED);
    return printJsonError(error.code, error.message);
  }
}
