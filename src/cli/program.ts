import type { Settings } from '../../config/settings.ts';
import type { CommandHelp, CommandOptions } from './verb.ts';

/** Runs the server with these arguments and settings. */
export type ServeFunction = (argv: readonly string[], env: NodeJS.ProcessEnv) => Promise<void>;

/** Input of a program. */
export interface ProgramInput {
  /** Arguments after the command words. */
  args: readonly string[];
  /** All arguments. */
  argv: readonly string[];
  options: CommandOptions & { json?: boolean | undefined };
  env: NodeJS.ProcessEnv;
  /** Client token from MAILSTEAD_TOKEN, which is not in `env`. */
  token: string | undefined;
  /** Data directory; undefined after printing an error. */
  dataDir: () => string | undefined;
  /** Settings of the server; undefined after printing an error. */
  settings: () => Settings | undefined;
  serve: ServeFunction;
}

/** A command that runs in this process. Loads its modules at first use. */
export interface CliProgram extends CommandHelp {
  run(start: ProgramInput): Promise<number>;
}
