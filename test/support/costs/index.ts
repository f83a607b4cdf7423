import { AUTHENTICATION_COSTS } from './authentication-costs.ts';
import { BODY_COSTS } from './body-costs.ts';
import { CONTROL_PLANE_COSTS } from './control-plane-costs.ts';
import { DNS_PROVIDER_COSTS } from './dns-provider-costs.ts';
import { FILTER_COSTS } from './filter-costs.ts';
import { HEADER_COSTS } from './header-costs.ts';
import { IMAP_COSTS } from './imap-costs.ts';
import { JMAP_COSTS } from './jmap-costs.ts';
import { READING_COSTS } from './reading-costs.ts';
import { REPORTS_COSTS } from './reports-costs.ts';
import type { CostRow } from './row.ts';
import { SECRETS_COSTS } from './secrets-costs.ts';
import { SENDING_COSTS } from './sending-costs.ts';
import { SINGLE_SIGN_ON_COSTS } from './single-sign-on-costs.ts';
import { SMTP_COSTS } from './smtp-costs.ts';
import { TLS_COSTS } from './tls-costs.ts';
import { TRANSFER_COSTS } from './transfer-costs.ts';
import { WEB_MAIL_COSTS } from './web-mail-costs.ts';

/** Every function of ours that a stranger's or tenant's text reaches. */
export const COSTS: readonly CostRow[] = [
  ...SMTP_COSTS,
  ...TLS_COSTS,
  ...DNS_PROVIDER_COSTS,
  ...HEADER_COSTS,
  ...BODY_COSTS,
  ...AUTHENTICATION_COSTS,
  ...FILTER_COSTS,
  ...SECRETS_COSTS,
  ...IMAP_COSTS,
  ...JMAP_COSTS,
  ...READING_COSTS,
  ...REPORTS_COSTS,
  ...SENDING_COSTS,
  ...CONTROL_PLANE_COSTS,
  ...TRANSFER_COSTS,
  ...SINGLE_SIGN_ON_COSTS,
  ...WEB_MAIL_COSTS,
];

/** Names a row: function, form and folder. */
export function costName({ at, name, form }: CostRow): string {
  return `${at} ${name}${form === '' ? '' : ` (${form})`}`;
}
