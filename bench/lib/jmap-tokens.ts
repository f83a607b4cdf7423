import { mailboxToken } from '../../src/accounts/profile.ts';
import type { startMailstead } from './mailstead.ts';

/** The Bearer token and the id of each account. */
export async function tokensOf(
  box: Awaited<ReturnType<typeof startMailstead>>,
): Promise<{ id: string; token: string; user: string }[]> {
  return Promise.all(
    box.users.map(async (user) => {
      const basic = Buffer.from(`${user}@${box.domain}:${box.password}`).toString('base64');
      const headers = { authorization: `Basic ${basic}` };
      const answer = await fetch(`http://127.0.0.1:${box.ports['http']}/jmap/session`, { headers });
      const { accounts } = (await answer.json()) as { accounts: object };
      const id = Object.keys(accounts)[0] ?? '';
      return { id, user, token: mailboxToken('mst', Number(id.replace('mbx_', '')), box.password) };
    }),
  );
}
