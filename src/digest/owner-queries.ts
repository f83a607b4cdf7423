import { query } from '../../mail/store/engine/types.ts';

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

/** Who answers a letter: an owner still, whose address is proved; undefined: nobody who may. */
export const answeringOwner = query(
  'answering-owner',
  async (
    rx,
    { organization, user }: { organization: number; user: number },
  ): Promise<{ email: string; name: string } | undefined> =>
    rx.get<{ email: string; name: string }>(
      `SELECT u.email, o.name FROM member m JOIN user u ON u.id = m.user_id JOIN organization o ON o.id = m.organization_id
       WHERE m.organization_id = ? AND m.user_id = ? AND m.role = 'owner' AND u.address_proven_at IS NOT NULL`,
      organization,
      user,
    ),
);
