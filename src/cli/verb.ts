/** Options of some commands; `--json`, `--data-dir` and `--env-file` apply to all. */
export interface CommandOptions {
  'password-stdin'?: boolean | undefined;
  actions?: string | undefined;
  org?: string | undefined;
  url?: string | undefined;
  'token-file'?: string | undefined;
  markdown?: boolean | undefined;
  digests?: boolean | undefined;
  permanently?: boolean | undefined;
  domain?: string | undefined;
  mailbox?: string | undefined;
  message?: string | undefined;
  provider?: string | undefined;
  credentials?: string | undefined;
  device?: string | undefined;
  folder?: string | undefined;
  format?: string | undefined;
  since?: string | undefined;
  'from-host'?: string | undefined;
  csv?: string | undefined;
  user?: string | undefined;
  'password-file'?: string | undefined;
  to?: string | undefined;
  'oauth-token-file'?: string | undefined;
  port?: string | undefined;
  tls?: string | undefined;
  'any-certificate'?: boolean | undefined;
  labels?: string | undefined;
  delete?: boolean | undefined;
  drafts?: boolean | undefined;
  'per-second'?: string | undefined;
  at?: string | undefined;
  scratch?: string | undefined;
  backup?: string | undefined;
  check?: boolean | undefined;
  continuous?: boolean | undefined;
  'data-dir'?: string | undefined;
}

/** Words and help of one command. */
export interface CommandHelp {
  words: string;
  /** Arguments, for the help. */
  usage: string;
  about: string;
  /** Supported options. */
  options?: readonly (keyof CommandOptions)[];
}

export interface OperationCall {
  operation: string;
  input: object;
}

export interface VerbInput extends CommandOptions {
  /** Reads standard input. */
  stdin(): string;
}

/** A command that calls an operation of the running server. */
export interface Verb extends CommandHelp {
  /** Maps arguments to an operation call; undefined for wrong usage. */
  parse(args: readonly string[], given: VerbInput): OperationCall | undefined;
  /** Name of the paginated list in the result; all pages are read. */
  pages?: string;
  show(result: never): string;
  /** Exit code 1 if it returns false; left out: a result is a success. */
  succeeded?(result: never): boolean;
}

type Input = (args: readonly string[], given: VerbInput) => object | undefined;

/** Creates a parser that maps arguments to one operation. */
export const operationCall =
  (operation: string, inputOf: Input): Verb['parse'] =>
  (args, given) => {
    const input = inputOf(args, given);
    return input && { operation, input };
  };

export const withoutArguments: Input = (args) => (args.length === 0 ? {} : undefined);

export const oneArgument =
  (name: string): Input =>
  (args) =>
    args.length === 1 ? { [name]: args[0] } : undefined;
