import { query } from '../../mail/store/engine/types.ts';

/** Whoever turns nothing off is told; no organization has so many. */
const MOST_OWNERS = 100;

/** Whom a letter is for. */
export interface LetterOwner {
  user: number;
  email: string;
}

/** Owners of an organization; without `all` those who want the daily letter. */
export const letterOwners = query(
  'letter-owners',
  async (rx, { organization, all }: { organization: number; all: boolean }): Promise<LetterOwner[]> => {
    const rows = await rx.all<{ user: number; email: string }>(
      `SELECT u.id AS user, u.email FROM member m JOIN user u ON u.id = m.user_id
       WHERE m.organization_id = ?1 AND m.role = 'owner' AND (?2 OR m.daily_letter_off_at IS NULL) ORDER BY u.id LIMIT ?3`,
      organization,
      Number(all),
      MOST_OWNERS,
    );
    return rows;
  },
);

/** Whether an owner gets the daily letter; null: it is no owner. */
export const getsDailyLetter = query(
  'gets-daily-letter',
  async (rx, { organization, user }: { organization: number; user: number }): Promise<boolean | null> => {
    const row = await rx.get<{ off: number | null }>(
      `SELECT daily_letter_off_at AS off FROM member WHERE organization_id = ? AND user_id = ? AND role = 'owner'`,
      organization,
      user,
    );
    return row === undefined ? null : row.off === null;
  },
);

/** Who answers a letter: an owner still, of an organization; undefined: not any more. */
export const answeringOwner = query(
  'answering-owner',
  async (
    rx,
    { organization, user }: { organization: number; user: number },
  ): Promise<{ email: string; name: string } | undefined> =>
    rx.get<{ email: string; name: string }>(
      `SELECT u.email, o.name FROM member m JOIN user u ON u.id = m.user_id JOIN organization o ON o.id = m.organization_id
       WHERE m.organization_id = ? AND m.user_id = ? AND m.role = 'owner'`,
      organization,
      user,
    ),
);
