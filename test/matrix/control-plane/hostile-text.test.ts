import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, operatorCaller } from '../../../src/core/caller.ts';
import type { Operation } from '../../../src/core/operation.ts';
import { perform } from '../../../src/operations/perform.ts';
import { releaseMessage } from '../../../src/operations/quarantine/release.ts';
import { type TextArgument, textArguments } from '../../support/operation-samples.ts';
import { difference, type Rows, rowsOf } from '../../support/rows.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

let tenants: Tenants;
/** Rows after the last test. */
let rows: Rows;
beforeAll(async () => {
  tenants = await twoTenants();
  rows = await rowsOf(tenants.world.store);
});
afterAll(() => tenants[Symbol.asyncDispose]());

const HOSTILE: Readonly<Record<string, string>> = {
  CR: '\r',
  LF: '\n',
  CRLF: '\r\n',
  NUL: '\0',
  'U+2028': '\u2028',
  DEL: '\x7f',
  'a header': '\r\nBcc: x@ext.example',
  'a lone surrogate': '\ud800',
  '1 MB': 'x'.repeat(1_048_576),
};

/** Text that goes nowhere but into JSON again, and what says of itself why it is none. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  'deploy_service spec{}': ['done'],
  'deploy_service spec{key}': ['done'],
  // A body has lines, and is encoded; what a header would be made of it is no part of it.
  // Nobody could approve what an organization sends that is not claimed: after some mails a budget holds.
  'send_email text': ['done', 'budget_exceeded'],
  'send_email html': ['done', 'budget_exceeded'],
  'reply_to_email text': ['done', 'budget_exceeded'],
  'reply_to_email html': ['done', 'budget_exceeded'],
  'forward_email note': ['done', 'budget_exceeded'],
  'create_draft text': ['done'],
  'create_draft html': ['done'],
  'update_draft text': ['done', 'conflict'],
  'update_draft html': ['done', 'conflict'],
  'create_email_template text': ['done', 'already_exists'],
  'create_email_template html': ['done', 'already_exists'],
  'update_email_template text': ['done'],
  'update_email_template html': ['done'],
  // PEM has lines; what is decoded has to be a key to the last octet.
  'register_recovery_key publicKey': ['invalid_public_key', 'conflict', 'done'],
  'verify_recovery_key signature': ['invalid_signature', 'too_many_attempts'],
};

/** Returns a caller that may run the operation: the operator if it is reserved for people. */
function callerFor(operation: Operation, token: Caller): Caller {
  if (operation.operatorOnly === true) return operatorCaller();
  return operation === releaseMessage ? operatorCaller(token.organization) : token;
}

const every = textArguments();

describe('text that would break a line, somewhere', () => {
  test.each(every.map((one): [string, TextArgument] => [`${one.operation.name} ${one.path}`, one]))(
    'is refused: %s',
    async (name, { operation, args, own }) => {
      const { a, world } = tenants;
      const caller = callerFor(operation, a.caller);
      const before = rows;
      // At once, so that they share their commits: each has its row in the audit log.
      const said = Object.entries(HOSTILE).flatMap(([what, text]) =>
        [...new Set([text, `text${text}`, `${own(a.main)}${text}`, `${text}${own(a.main)}`])].map(async (given) => {
          const answer = await perform(world, operation, caller, args(a.main, given));
          return { what, code: answer.kind === 'done' ? 'done' : answer.refusal.error };
        }),
      );
      const allowed = ['invalid_arguments', ...(OTHERWISE[name] ?? [])];
      expect((await Promise.all(said)).filter(({ code }) => !allowed.includes(code))).toEqual([]);
      rows = await rowsOf(world.store);
      if (name in OTHERWISE) return;
      expect(difference(before, rows)).toEqual({ gone: [], added: [] });
    },
  );
});
