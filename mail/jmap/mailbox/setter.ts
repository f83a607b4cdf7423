import {
  changeMailbox,
  destroyMailbox,
  type MailboxNode,
  mailboxTree,
  plantMailbox,
} from '../../store/mailbox-tree.ts';
import { jmapId, jmapRow } from '../ids.ts';
import type { Access, Call } from '../method.ts';
import { applyPatch } from '../patch.ts';
import { done, type Outcome, refused, type Setter } from '../standard-set.ts';
import type { StateTrack } from '../state-track.ts';
import { MAILBOX_DEFAULTS, readFacts, toRefusal } from './facts.ts';
import { mailboxObject } from './shape.ts';

const missing = (id: string): Outcome<never> => refused('notFound', `There is no mailbox ${id}.`);
const inbox = (what: string): Outcome<never> => refused('forbidden', `The inbox cannot be ${what}.`);

/** How mailboxes are created, changed and destroyed; each is one commit. */
export function mailboxSetter(call: Call, access: Access, track: StateTrack, removeEmails: boolean): Setter {
  const { account } = access;
  const { store } = call.desk;

  async function nodeOf(id: string): Promise<MailboxNode | undefined> {
    const row = jmapRow('mailbox', account, id);
    return row === undefined ? undefined : (await store.read(mailboxTree, { account, ids: [row] })).nodes[0];
  }

  return {
    state: () => Promise.resolve(track.states.newState),

    async create(_creationId, object) {
      const facts = readFacts(call, account, object, {});
      if (facts.kind === 'refused') return facts;
      const made = await track.write(store, plantMailbox, { account, facts: facts.value });
      if (made.kind !== 'created') return toRefusal(made);
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
      const facts = readFacts(call, account, wanted.patched, was);
      if (facts.kind === 'refused') return facts;
      const changed = await track.write(store, changeMailbox, { account, id: node.id, facts: facts.value });
      switch (changed.kind) {
        case 'changed':
          return done(facts.value.name === wanted.patched['name'] ? null : { name: facts.value.name });
        case 'missing':
          return missing(id);
        case 'is-inbox':
          return inbox('renamed, moved or given another role');
        case 'is-for-approval':
          return refused('forbidden', 'It keeps its name and place: what is moved into "Approved" is sent.');
        case 'exists':
        case 'no-parent':
        case 'inside-itself':
        case 'too-deep':
        case 'too-many':
        case 'role-taken':
          return toRefusal(changed);
      }
    },

    async destroy(id) {
      const row = jmapRow('mailbox', account, id);
      if (row === undefined) return missing(id);
      // What an agent does can be undone, and of a folder that went with its emails nothing is written down.
      const agent = (await call.session.isAgents?.()) === true;
      switch (await track.write(store, destroyMailbox, { account, id: row, removeEmails: removeEmails && !agent })) {
        case 'destroyed':
          return done(null);
        case 'missing':
          return missing(id);
        case 'is-inbox':
          return inbox('destroyed');
        case 'is-for-approval':
          return refused('forbidden', 'Emails lie in it that await approval, or were just approved.');
        case 'has-children':
          return refused('mailboxHasChild', 'Destroy or move the mailboxes below it first.');
        case 'has-emails':
          if (agent && removeEmails)
            return refused('forbidden', 'It holds emails: an agent moves or destroys them first, each for itself.');
          return refused('mailboxHasEmail', 'It holds emails: move them, or set "onDestroyRemoveEmails" to true.');
      }
    },
  };
}

/** What the client did not say, or said otherwise. */
function unknownTo<T extends { id: string }>(given: Record<string, unknown>, made: T): T {
  const said = { ...MAILBOX_DEFAULTS, ...given };
  const rest = Object.entries(made).filter(
    ([name, value]) => !Object.hasOwn(given, name) || Reflect.get(said, name) !== value,
  );
  return Object.fromEntries(rest) as T;
}
