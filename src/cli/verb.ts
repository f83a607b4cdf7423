/** What can be given beside the words; `--json`, `--data-dir` and `--env-file` always can. */
export interface Options {
  'password-stdin'?: boolean | undefined;
  actions?: string | undefined;
  org?: string | undefined;
  url?: string | undefined;
  'token-file'?: string | undefined;
  markdown?: boolean | undefined;
  digests?: boolean | undefined;
}

/** The words of one thing that the command can do. */
export interface Words {
  words: string;
  /** Arguments as the help shows them. */
  usage: string;
  about: string;
  /** Options that it understands. */
  options?: readonly (keyof Options)[];
}

export interface Asked {
  operation: string;
  input: object;
}

export interface Given extends Options {
  /** Everything on standard input; read when it is asked for. */
  stdin(): string;
}

/** Something that a running server is asked for: the operation behind the words, and how its answer reads. */
export interface Verb extends Words {
  /** Undefined: the arguments do not fit. */
  ask(args: readonly string[], given: Given): Asked | undefined;
  /** The list in the answer that comes in pages; all of them are asked for. */
  pages?: string;
  show(result: never): string;
}

type Input = (args: readonly string[], given: Given) => object | undefined;

/** Asks for one operation, with the input that fits the arguments. */
export const asks =
  (operation: string, inputOf: Input): Verb['ask'] =>
  (args, given) => {
    const input = inputOf(args, given);
    return input && { operation, input };
  };

export const none: Input = (args) => (args.length === 0 ? {} : undefined);

export const one =
  (name: string): Input =>
  (args) =>
    args.length === 1 ? { [name]: args[0] } : undefined;
