import { type Migration, readSteps } from '../../mail/store/engine/migrate.ts';

/** The tables of the appliance, one file for each topic. Step 1: never edited after a release. */
const SCHEMA = ['organization.sql', 'token.sql', 'service.sql', 'sent.sql', 'audit.sql'];

/** Migrations of the appliance. A change of the schema is a further step: a list of SQL files after SCHEMA. */
export function applianceMigrations(): Migration[] {
  return readSteps('appliance', new URL('../schema/', import.meta.url), [
    SCHEMA,
    ['derived-readers.sql'],
    ['deleted-service.sql'],
    ['certificate.sql'],
    ['mail-session.sql'],
    ['mta-sts.sql'],
    ['device-link.sql'],
    ['dns-provider.sql'],
    ['report.sql'],
    ['report-setting.sql'],
    ['health.sql'],
    ['server-hour.sql'],
    ['second-factor.sql'],
    ['passkey.sql'],
    ['factor-rule.sql'],
    ['member-mail-session.sql'],
    ['dns-drift.sql'],
    ['dns-confirmed.sql'],
    ['device.sql'],
    ['totp-session.sql'],
    ['single-sign-on.sql'],
    ['tls-key-seen.sql'],
    ['port-evidence.sql'],
    ['organization-deletion.sql'],
  ]);
}
