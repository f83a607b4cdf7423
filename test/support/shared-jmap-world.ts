import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { accountId, jmapId } from '../../mail/jmap/core/ids.ts';
import { grantMailbox } from '../../mail/store/mailbox/acl.ts';
import { createMailbox, findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { type JmapFixture, jmapFixtureOn } from './jmap-fixture.ts';
import { testAccount, testStore, type TestStore } from './store.ts';

type Arguments = Record<string, unknown>;

/** A person with a JMAP session of its own password. */
export interface SharingJmapPerson extends JmapFixture {
  address: string;
  credential: number;
}

/** Ann, who has the mailboxes Team and Private, Bob of her organization and Eve of another. */
export interface SharedJmapWorld extends AsyncDisposable {
  box: TestStore;
  ann: SharingJmapPerson;
  bob: SharingJmapPerson;
  eve: SharingJmapPerson;
  team: string;
  hidden: string;
  /** Ann shares Team with Bob; '' revokes. */
  share(rights: string): Promise<void>;
  /** A call of Bob to the account of Ann. */
  asBob(name: string, args?: Arguments): Promise<Arguments>;
  /** The method error of such a call. */
  refusalOfBob(name: string, args?: Arguments): Promise<Arguments>;
  /** Ann stores a message in these mailboxes; answers its id. */
  put(mailboxes: readonly string[], email: object): Promise<string>;
  sql(text: string, ...values: (string | number)[]): Record<string, unknown>[];
}

export async function sharedJmapWorld(): Promise<SharedJmapWorld> {
  const box = await testStore();
  const sql: SharedJmapWorld['sql'] = (text, ...values) => {
    using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'));
    return db.prepare(text).all(...values);
  };
  const person = async (local: string, tenant = 1): Promise<SharingJmapPerson> => {
    const name = tenant === 1 ? 'box.test' : 'other.test';
    const made = await testAccount(box.store, local, { tenant, name });
    const credential = Number(sql('SELECT id FROM credential WHERE account_id = ?', made.account)[0]?.['id']);
    const fixture = jmapFixtureOn(box, { ...made, address: `${local}@${name}` });
    Object.assign(fixture.session, { sharing: { account: made.account, actor: { credential } } });
    return { ...fixture, address: `${local}@${name}`, credential };
  };
  const [ann, bob, eve] = [await person('ann'), await person('bob'), await person('eve', 2)];
  const mailbox = async (name: string): Promise<string> => {
    await box.store.write(createMailbox, { account: ann.account, name, role: null });
    return jmapId('mailbox', (await box.store.read(findMailbox, { account: ann.account, name }))?.id ?? 0);
  };
  const [team, hidden] = [await mailbox('Team'), await mailbox('Private')];
  const annsId = accountId(ann.account);
  return {
    box,
    ann,
    bob,
    eve,
    team,
    hidden,
    sql,
    async share(rights) {
      const row = Number.parseInt(team.slice(1), 36);
      const grant = { account: ann.account, mailbox: row, address: bob.address, how: 'set', rights } as const;
      if ((await box.store.write(grantMailbox, grant)).kind !== 'set') throw new Error('not shared');
    },
    asBob: (name, args) => bob.call(name, { accountId: annsId, ...args }),
    refusalOfBob: (name, args) => bob.refusal(name, { accountId: annsId, ...args }),
    async put(mailboxes, email) {
      const mailboxIds = Object.fromEntries(mailboxes.map((id) => [id, true]));
      const answer = await ann.call('Email/set', { create: { k: { mailboxIds, ...email } } });
      const made = (answer['created'] as Record<string, { id: string }> | null)?.['k'];
      if (made === undefined) throw new Error(JSON.stringify(answer['notCreated']));
      return made.id;
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}
