import { randomBytes } from 'node:crypto';
import { tokenCaller } from '../../src/core/caller.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import { perform, type OperationOutcome } from '../../src/operations/perform.ts';
import type { TestContext } from './world.ts';
import { addToken, findToken, type NewToken } from '../../src/tokens/commands.ts';
import { ALL_ACTIONS } from '../../src/core/token.ts';

/** A token of the operator's organization with all actions. */
export function mintToken({ store }: TestContext, over: Partial<NewToken> = {}): Promise<number> {
  return store.write(addToken, {
    hash: randomBytes(32),
    organization: 1,
    name: 'agent',
    shown: 'mst_abc',
    actions: [...ALL_ACTIONS],
    project: null,
    service: null,
    mailboxes: null,
    owner: true,
    createdBy: 'operator',
    expiresAt: null,
    ...over,
  });
}

/** A call of a tool by a token that holds. */
export async function asToken(
  world: TestContext,
  id: number,
  name: string,
  input: object = {},
): Promise<OperationOutcome> {
  const token = await world.store.read(findToken, { id });
  const operation = findOperation(name);
  if (token === undefined || operation === undefined) throw new Error(`no token, or no ${name}`);
  return perform(world, operation, tokenCaller(token, 'rest', '192.0.2.1'), input);
}

/** The same, where it must be done. */
export async function resultFor(
  world: TestContext,
  id: number,
  name: string,
  input: object = {},
): Promise<Record<string, unknown>> {
  const done = await asToken(world, id, name, input);
  if (done.kind === 'done') return done.result;
  throw new Error(done.refusal.message);
}
