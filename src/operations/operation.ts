import type { z } from 'zod';
import type { Command } from '../../mail/store/engine/types.ts';
import type { Action } from '../tokens/token.ts';
import type { About } from './about.ts';
import type { Caller } from './caller.ts';
import type { World } from './world.ts';

/** The names by which a client asks for a part of the catalogue. */
export const TOOLSETS = [
  'core',
  'deploy',
  'org',
  'billing',
  'database',
  'buckets',
  'redis',
  'git',
  'dns',
  'domains',
  'email',
  'mail',
  'sms',
  'analytics',
  'support',
] as const;
export type Toolset = (typeof TOOLSETS)[number];

/**
 * What a caller must be allowed. `anonymous`: anybody, with or without a credential. `identity`: any credential that
 * holds; these are listed whatever toolsets were asked for.
 */
export type Needed = Action | 'anonymous' | 'identity';

/**
 * Which limited tokens may call: `organization`: none, it is about the whole of it; `project`: those of one project;
 * `mailbox`, `service`: these and those of some mailboxes or of one service; `thread`: as `mailbox`, and those of one
 * conversation, to which it looks itself (scope.ts); `any`: all but these, as it looks to the limits itself.
 */
export type Reach = 'organization' | 'project' | 'mailbox' | 'thread' | 'service' | 'any';

/** MCP's annotations. */
export interface Hints {
  /** Changes nothing. */
  readonly readOnly: boolean;
  /** Takes something away that does not come back by itself. */
  readonly destructive: boolean;
  /** Twice is as good as once. */
  readonly idempotent: boolean;
  /** Touches the world outside the box, or shows what came from there. */
  readonly openWorld: boolean;
}

/** What an MCP answer can hold beside its JSON. Doors that only have JSON leave it out. */
export type Block =
  | { readonly type: 'image'; /** Base64. */ readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly size: number;
    };

/** Whoever waits for the answer of an operation that may take long. */
export interface Audience {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Tells how far it is, for who asked to be told. */
  readonly progress?: ((done: number, of: number) => void) | undefined;
}

/** One call of an operation: the world, who asks, and the only way to write with an audit row. */
export interface Call extends World {
  readonly caller: Caller;
  /** Of an operation that streams; undefined where nobody can say that they went away. */
  readonly audience: Audience | undefined;
  /** The caller's organization. Throws for anonymous callers, who have none. */
  readonly tenant: number;
  readonly requestId: string;
  /**
   * Writes with the audit row in the same commit. `target` is the public id or name of what it is done to; `detail` has
   * facts for people and no secret.
   */
  change<I, O>(
    what: Command<I, O>,
    input: I,
    target: string,
    detail?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>,
  ): Promise<O>;
  /** Commits an audit row of its own: before a secret leaves. Answers the row's id. */
  note(
    target: string,
    detail?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>,
  ): Promise<number>;
  /** Puts a block beside the JSON of the answer. */
  show(block: Block): void;
}

/** Something that can be done, written once: tool, route, command, page and documentation read this object. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly toolset: Toolset;
  /** Also in the core toolset. */
  readonly core?: true;
  readonly action: Needed;
  /** Does as well. */
  readonly orAction?: Action;
  readonly reach: Reach;
  /** At most 350 characters; names the side effect. */
  readonly description: string;
  readonly hints: Hints;
  /** Works, and is listed, for the operator's organization only. */
  readonly operatorOnly?: true;
  /** Only at the operator's socket: box-wide, or done on the operator's word. Never listed or callable elsewhere. */
  readonly socketOnly?: true;
  /** Decides about agents: for people in the portal and the operator, never for a token. Never listed as a tool. */
  readonly peopleOnly?: true;
  /** The answer holds a secret: it is never logged, and the audit log says that it was shown. */
  readonly secret?: true;
  /** Outputs hold text of strangers. */
  readonly untrusted?: true;
  /** May take up to 50 s, and longer for who is told of its progress. */
  readonly streams?: true;
  readonly input: I;
  readonly output: O;
  /** A route of its own beside `POST /api/tools/{name}`, with `:parameters` named as input fields. */
  readonly rest?: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
    readonly path: string;
    readonly status?: number;
    /** Other names by which its query knows input fields. */
    readonly query?: Readonly<Record<string, string>>;
  };
  /**
   * It changes who hears of mail, what programs send or who may work here, so that it outlives a token that was misled: where the policy of the
   * token, or of a mailbox that it is about, has rules wait, it is only proposed. Undefined: these arguments change no rule.
   */
  rule?(call: Call, input: z.output<I>): About | undefined | Promise<About | undefined>;
  /**
   * It mails somebody whom the caller names, or asks name servers that the caller chose: after reading mail of outsiders an
   * agent only proposes it, where a person could accept, and always where its policy does not let it write to anybody.
   */
  writesToStrangers?: true;
  /** What of it is told outside by another way than a message: where a secret is in that, a token does not do it. */
  tellsOutside?(call: Call, input: z.output<I>): readonly string[] | Promise<readonly string[]>;
  run(call: Call, input: z.output<I>): Promise<z.input<O>>;
}

/** Declares an operation; hints that are left out are false. */
export function operation<I extends z.ZodObject, O extends z.ZodType>(
  declared: Omit<Operation<I, O>, 'hints'> & { hints: Partial<Hints> },
): Operation<I, O> {
  const { readOnly = false, destructive = false, idempotent = false, openWorld = false } = declared.hints;
  return { ...declared, hints: { readOnly, destructive, idempotent, openWorld } };
}
