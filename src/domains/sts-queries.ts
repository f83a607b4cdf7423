import { lookup } from '../../mail/store/engine/types.ts';
import type { StsMode } from './sts-commands.ts';

/** A policy that this server publishes. */
export interface OwnStsPolicy {
  mode: StsMode;
  changedAt: number;
}

/** Policy of a domain, by its row. */
export const ownStsPolicy = lookup(
  'own-sts-policy',
  (rx, input: { domain: number }): Promise<OwnStsPolicy | undefined> =>
    rx.get<{ mode: StsMode; changedAt: number }>(
      'SELECT mode, changed_at AS "changedAt" FROM own_sts_policy WHERE domain_id = ?',
      input.domain,
    ),
);

/** Policy of a verified domain, by its name. */
export const hostedStsPolicy = lookup(
  'hosted-sts-policy',
  (rx, input: { name: string }): Promise<OwnStsPolicy | undefined> =>
    rx.get<{ mode: StsMode; changedAt: number }>(
      `SELECT p.mode, p.changed_at AS "changedAt" FROM own_sts_policy p JOIN domain d ON d.id = p.domain_id
       WHERE d.name = ? AND d.state = 1`,
      input.name,
    ),
);

/** Verified domains without a policy whose records this server publishes itself. */
export const domainsToBeginSts = lookup('domains-to-begin-sts', (rx): Promise<{ domain: number; name: string }[]> =>
  rx.all<{ domain: number; name: string }>(
    `SELECT d.id AS domain, d.name FROM domain d
       WHERE d.state = 1
         AND (EXISTS (SELECT 1 FROM dns_provider p WHERE p.domain_id = d.id AND p.published_at IS NOT NULL)
           OR EXISTS (SELECT 1 FROM domain_setup s WHERE s.domain_id = d.id AND s.managed <> 0))
         AND NOT EXISTS (SELECT 1 FROM own_sts_policy p WHERE p.domain_id = d.id)
         AND NOT EXISTS (SELECT 1 FROM sts_walk_off o WHERE o.domain_id = d.id) ORDER BY d.id`,
  ),
);

/** A policy in testing that may be enforced without a person. */
export interface WalkingStsPolicy {
  domain: number;
  name: string;
  changedAt: number;
}

/** Policies of verified domains in testing since before a time, where the automatic change is not turned off. */
export const walkingStsPolicies = lookup(
  'walking-sts-policies',
  (rx, { before }: { before: number }): Promise<WalkingStsPolicy[]> =>
    rx.all<WalkingStsPolicy & Record<string, string | number>>(
      `SELECT d.id AS domain, d.name, p.changed_at AS "changedAt" FROM own_sts_policy p JOIN domain d ON d.id = p.domain_id
       WHERE d.state = 1 AND p.mode = 'testing' AND p.changed_at <= ?
         AND NOT EXISTS (SELECT 1 FROM sts_walk_off o WHERE o.domain_id = d.id) ORDER BY d.id`,
      before,
    ),
);
