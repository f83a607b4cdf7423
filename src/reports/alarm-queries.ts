import { lookup } from '../../mail/store/engine/types.ts';

/** A source whose mail fails, and of which owners were not notified. */
export interface FailingSource {
  domain: number;
  tenant: number;
  name: string;
  source: string;
  failed: number;
}

/**
 * Sources of which signed reports since a day count many failing messages that were not forwarded, by domain. Domains with a
 * notice in the last day wait.
 */
export const failingSources = lookup(
  'failing-sources',
  (
    rx,
    { since, least, quietSince, limit }: { since: number; least: number; quietSince: number; limit: number },
  ): Promise<FailingSource[]> =>
    rx.all<FailingSource & Record<string, string | number>>(
      `SELECT s.domain_id AS domain, d.tenant, d.name, s.source, sum(s.messages) AS failed
       FROM dmarc_sum s JOIN domain d ON d.id = s.domain_id
       WHERE s.day >= ?1 AND s.trusted = 1 AND s.spf = 0 AND s.dkim = 0 AND s.source <> ''
         AND s.override NOT IN ('forwarded', 'trusted_forwarder', 'mailing_list')
         AND NOT EXISTS (SELECT 1 FROM report_alarm a WHERE a.domain_id = s.domain_id
           AND (a.source = s.source OR a.notified_at > ?3))
       GROUP BY s.domain_id, d.tenant, d.name, s.source HAVING sum(s.messages) >= ?2
       ORDER BY s.domain_id, sum(s.messages) DESC, s.source LIMIT ?4`,
      since,
      least,
      quietSince,
      limit,
    ),
);
