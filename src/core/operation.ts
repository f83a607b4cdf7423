import type { z } from 'zod';
import type { Command } from '../../mail/store/engine/types.ts';
import type { Action } from './token.ts';
import type { Caller } from './caller.ts';
import type { AreaContext } from './area-context.ts';
import type { StreamClient } from './stream-client.ts';

/** Toolsets by which a client selects parts of the catalogue. */
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
 * Right that a caller needs. `anonymous`: none. `identity`: any valid credential; these are listed whatever toolsets
 * are selected.
 */
export type RequiredAction = Action | 'anonymous' | 'identity';

/**
 * Limited tokens that may call an operation. `organization`: none; `project`: tokens of one project; `mailbox`,
 * `service`: these and tokens of some mailboxes or of one service; `thread`: as `mailbox`, and tokens of one
 * conversation, which the operation checks itself (scope.ts); `any`: all but tokens of one conversation, the operation
 * checks the limits itself.
 */
export type TokenReach = 'organization' | 'project' | 'mailbox' | 'thread' | 'service' | 'any';

/**
 * Rows of the mailboxes that a rule change affects. Besides the token's policy, the policy of each of them decides
 * whether a person has to approve it.
 */
export type AffectedMailboxes = readonly number[];

/** MCP's annotations. */
export interface Hints {
  /** Changes nothing. */
  readonly readOnly: boolean;
  /** Removes something that does not come back by itself. */
  readonly destructive: boolean;
  /** A second call with the same arguments changes nothing more. */
  readonly idempotent: boolean;
  /** Contacts other hosts, or returns outside content. */
  readonly openWorld: boolean;
}

/** Content of an MCP result besides its JSON. Endpoints that only have JSON omit it. */
export type Block =
  | { readonly type: 'image'; /** Base64. */ readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name: string;
      readonly mimeType: string;
      readonly size: number;
    };

/** One call of an operation: the context, the caller, and the only way to write with an audit row. */
export interface Call extends AreaContext {
  /** Loads all operations at first use. */
  readonly catalogue: () => Promise<readonly Operation[]>;
  readonly caller: Caller;
  /** The caller of an operation that streams; undefined if a disconnect cannot be noticed. */
  readonly audience: StreamClient | undefined;
  /** The caller's organization. Throws for anonymous callers, who have none. */
  readonly tenant: number;
  readonly requestId: string;
  /**
   * Writes with the audit row in the same commit. `target` is the public id or name of the changed thing; `detail` has
   * facts for people and no secrets.
   */
  change<I, O>(
    what: Command<I, O>,
    input: I,
    target: string,
    detail?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>,
  ): Promise<O>;
  /** Commits an audit row before a secret is shown. Returns the row's id. */
  note(
    target: string,
    detail?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>,
  ): Promise<number>;
  /** Adds a block to the result. */
  show(block: Block): void;
}

/** An operation, declared once: tool, REST route, command, page and documentation are derived from it. */
export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly toolset: Toolset;
  /** True: also in the core toolset. */
  readonly core?: true;
  readonly action: RequiredAction;
  /** Alternative action that also permits it. */
  readonly orAction?: Action;
  readonly reach: TokenReach;
  /** At most 350 characters; names the side effect. */
  readonly description: string;
  readonly hints: Hints;
  /** Works and is listed for the operator's organization only. */
  readonly operatorOnly?: true;
  /**
   * Only on the operator's socket: affects the whole server, or needs the operator. Never listed or callable elsewhere.
   */
  readonly socketOnly?: true;
  /** A decision about agents: for people in the portal and the operator, never for a token. Never listed as a tool. */
  readonly peopleOnly?: true;
  /** The result holds a secret: it is never logged, and the audit log records that it was shown. */
  readonly secret?: true;
  /** The result holds untrusted text. */
  readonly untrusted?: true;
  /** May take up to 50 s, or longer if the caller receives progress. */
  readonly streams?: true;
  readonly input: I;
  readonly output: O;
  /** REST route besides `POST /api/tools/{name}`; `:parameters` are input fields. */
  readonly rest?: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
    readonly path: string;
    readonly status?: number;
    /** Other names of input fields in the query string. */
    readonly query?: Readonly<Record<string, string>>;
  };
  /**
   * Returns the mailboxes that a rule change affects: who is notified of mail, what programs send, or who has access.
   * Such a change outlives a misled token, so it is only proposed if the policy of the token, or of an affected
   * mailbox, requires approval of rules. Undefined: these arguments change no rule.
   */
  rule?(call: Call, input: z.output<I>): AffectedMailboxes | undefined | Promise<AffectedMailboxes | undefined>;
  /**
   * Tests if nothing brings back what these arguments remove: people do it at once, and any token only proposes it,
   * whatever its policy. Throws if there is nothing to remove.
   */
  irreversible?(call: Call, input: z.output<I>): Promise<boolean>;
  /**
   * Mails an address, or queries name servers, that the caller chose: after an agent has read outsiders' mail it is
   * only proposed if a person could accept it, and always if the agent's policy does not allow sending to anybody.
   * `governed`: only for tokens under a policy; others get their answer at once.
   */
  writesToStrangers?: 'governed' | 'always';
  /**
   * Returns texts that leave the server other than in a message: a call of a token is refused if they hold a secret.
   */
  outgoingTexts?(call: Call, input: z.output<I>): readonly string[] | Promise<readonly string[]>;
  run(call: Call, input: z.output<I>): Promise<z.input<O>>;
}

/** Declares an operation; hints that are left out are false. */
export function operation<I extends z.ZodObject, O extends z.ZodType>(
  declared: Omit<Operation<I, O>, 'hints'> & { hints: Partial<Hints> },
): Operation<I, O> {
  const { readOnly = false, destructive = false, idempotent = false, openWorld = false } = declared.hints;
  return { ...declared, hints: { readOnly, destructive, idempotent, openWorld } };
}
