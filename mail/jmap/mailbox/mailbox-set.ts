import {
  addChildMailbox,
  changeMailbox,
  destroyMailbox,
  type MailboxKept,
  type MailboxNode,
  type MailboxRefusal,
  mailboxTree,
} from '../../store/mailbox/mailbox-tree.ts';
import { resolveCreationId } from '../core/access.ts';
import { bool, optional } from '../core/arguments.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { Access, JmapMethod, MethodCall } from '../core/method.ts';
import { sharedPart } from '../core/shared-accounts.ts';
import { applyPatch } from '../standard/set-properties.ts';
import { done, type ObjectSetter, readSet, refused, runSet, type SetOutcome } from '../standard/standard-set.ts';
import { StateTrack } from '../standard/state-track.ts';
import { sharedMailboxSetter } from './shared-mailbox-set.ts';
import { mailboxObject } from './mailbox.ts';
import { MAILBOX_DEFAULTS, placementRefusal, readMailboxProperties } from './mailbox-properties.ts';

/** Mailbox/set. RFC 8621 2.5. */
export const mailboxSet: JmapMethod = {
  name: 'Mailbox/set',
  capability: MAIL,
  canShare: true,
  async run(call, args) {
    const set = readSet(call, args, { onDestroyRemoveEmails: optional(bool, false) });
    const { account } = set.access;
    const shared = sharedPart(call, account);
    if (shared !== undefined) return runSet(call, set, sharedMailboxSetter(call.context, shared));
    const track = await StateTrack.begin(call.context.store, account, set.ifInState, 'Mailbox');
    const { nodes } = await call.context.store.read(mailboxTree, { account, ids: null });
    const parents = new Map(nodes.map((node) => [node.id, node.parent]));
    const parentOf = (id: string): string | undefined => {
      const row = jmapRow('mailbox', account, resolveCreationId(call, id) ?? '');
      const parent = row === undefined ? undefined : parents.get(row);
      return parent === undefined || parent === 0 ? undefined : jmapId('mailbox', parent);
    };
    const ordered = {
      ...set,
      create: parentsFirst(set.create),
      update: rolesGivenUpFirst(set.update),
      destroy: childrenFirst(set.destroy, parentOf),
    };
    const setter = mailboxSetter(call, set.access, track, set.onDestroyRemoveEmails);
    return { ...(await runSet(call, ordered, setter)), ...track.states };
  },
};

type Objects = ReadonlyMap<string, Record<string, unknown>>;

/** Sorts creations so that parents precede children that reference them, as in `"parentId": "#k1"`. RFC 8620 5.3. */
function parentsFirst(create: Objects): Objects {
  const ordered = new Map<string, Record<string, unknown>>();
  const waiting = [...create.keys()].toReversed();
  const seen = new Set<string>();
  while (waiting.length > 0) {
    const id = waiting.at(-1) ?? '';
    const one = create.get(id);
    const parent = one?.['parentId'];
    const first = typeof parent === 'string' && parent.startsWith('#') ? parent.slice(1) : undefined;
    // Seen before and not yet ordered: a reference cycle, refused when it is created.
    const needs = first !== undefined && create.has(first) && !ordered.has(first) && !seen.has(id);
    seen.add(id);
    if (needs) waiting.push(first);
    else {
      waiting.pop();
      if (one !== undefined && !ordered.has(id)) ordered.set(id, one);
    }
  }
  return ordered;
}

/** Sorts updates that remove a role first, so that another mailbox can take it in the same call. */
function rolesGivenUpFirst(update: Objects): Objects {
  const gives = ([, patch]: [string, Record<string, unknown>]): boolean => patch['role'] === null;
  const all = [...update];
  return new Map([...all.filter(gives), ...all.filter((one) => !gives(one))]);
}

/** Sorts ids so that children precede parents; `parentOf` returns undefined at the top and for unknown ids. */
function childrenFirst(ids: readonly string[], parentOf: (id: string) => string | undefined): string[] {
  const depth = (id: string): number => {
    let levels = 0;
    for (let at = parentOf(id); at !== undefined && levels < 100; at = parentOf(at)) levels++;
    return levels;
  };
  const deep = new Map(ids.map((id) => [id, depth(id)]));
  return ids.toSorted((a, b) => (deep.get(b) ?? 0) - (deep.get(a) ?? 0));
}

const missing = (id: string): SetOutcome<never> => refused('notFound', `No mailbox ${id}.`);
const inbox = (what: string): SetOutcome<never> => refused('forbidden', `The inbox cannot be ${what}.`);

/** Creates, updates and destroys mailboxes, one commit each. */
function mailboxSetter(call: MethodCall, access: Access, track: StateTrack, removeEmails: boolean): ObjectSetter {
  const { account } = access;
  const { store } = call.context;

  async function nodeOf(id: string): Promise<MailboxNode | undefined> {
    const row = jmapRow('mailbox', account, id);
    return row === undefined ? undefined : (await store.read(mailboxTree, { account, ids: [row] })).nodes[0];
  }

  return {
    state: () => Promise.resolve(track.states.newState),

    async create(_creationId, object) {
      const facts = readMailboxProperties(call, account, object, {});
      if (facts.kind === 'refused') return facts;
      await call.session.onWords?.({ account, kinds: ['folders'], written: true });
      const made = await track.write(store, addChildMailbox, { account, facts: facts.value });
      if (made.kind !== 'created') return placementRefusal(made);
      const node = await nodeOf(jmapId('mailbox', made.id));
      if (node === undefined) return missing(jmapId('mailbox', made.id));
      return done(unknownTo(object, mailboxObject(node, access)));
    },

    async update(id, patch) {
      const node = await nodeOf(id);
      if (node === undefined) return missing(id);
      const was = mailboxObject(node, access);
      const wanted = applyPatch(was, patch);
      if ('why' in wanted) return refused('invalidPatch', `${wanted.why}.`);
      const facts = readMailboxProperties(call, account, wanted.patched, was);
      if (facts.kind === 'refused') return facts;
      if (facts.value.name !== was.name) await call.session.onWords?.({ account, kinds: ['folders'], written: true });
      const changed = await track.write(store, changeMailbox, { account, id: node.id, facts: facts.value });
      if (changed.kind !== 'changed') return changeRefusal(changed, id);
      return done(facts.value.name === wanted.patched['name'] ? null : { name: facts.value.name });
    },

    async destroy(id) {
      const row = jmapRow('mailbox', account, id);
      if (row === undefined) return missing(id);
      // Agent changes must be undoable, and deleting a mailbox with its emails is not logged.
      const agent = (await call.session.isAgent?.()) === true;
      const removing = { account, id: row, removeEmails: removeEmails && !agent };
      const removed = await track.write(store, destroyMailbox, removing);
      return removed === 'destroyed' ? done(null) : destroyRefusal(removed, id, agent && removeEmails);
    },
  };
}

/** The SetError for a change that the mailbox tree refuses. */
function changeRefusal(
  refusal: { kind: 'missing' | 'is-inbox' | 'is-for-approval' } | MailboxRefusal,
  id: string,
): SetOutcome<never> {
  switch (refusal.kind) {
    case 'missing':
      return missing(id);
    case 'is-inbox':
      return inbox('renamed, moved or given another role');
    case 'is-for-approval':
      return refused('forbidden', 'This mailbox cannot be renamed or moved: mail moved into "Approved" is sent.');
    case 'exists':
    case 'no-parent':
    case 'inside-itself':
    case 'too-deep':
    case 'too-many':
    case 'role-taken':
      return placementRefusal(refusal);
  }
}

/** The SetError for a mailbox that is not destroyed. `asAgent`: an agent requested that its emails go too. */
function destroyRefusal(reason: MailboxKept, id: string, asAgent: boolean): SetOutcome<never> {
  switch (reason) {
    case 'missing':
      return missing(id);
    case 'is-inbox':
      return inbox('destroyed');
    case 'is-for-approval':
      return refused('forbidden', 'The mailbox contains emails that await approval or were just approved.');
    case 'has-children':
      return refused('mailboxHasChild', 'Destroy or move the child mailboxes first.');
    case 'has-emails':
      return asAgent
        ? refused('forbidden', 'The mailbox contains emails. An agent must move or destroy each email first.')
        : refused('mailboxHasEmail', 'The mailbox contains emails. Move them, or set "onDestroyRemoveEmails" to true.');
  }
}

/** Properties that differ from the client's object and the defaults. */
function unknownTo<T extends { id: string }>(given: Record<string, unknown>, made: T): T {
  const requested = { ...MAILBOX_DEFAULTS, ...given };
  const rest = Object.entries(made).filter(
    ([name, value]) => !Object.hasOwn(given, name) || Reflect.get(requested, name) !== value,
  );
  return Object.fromEntries(rest) as T;
}
