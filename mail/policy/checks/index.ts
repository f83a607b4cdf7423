import type { Finding } from '../finding.ts';
import type { Sample } from '../sample.ts';
import { checkAttachments } from './attachments.ts';
import { checkBulk } from './bulk.ts';
import { checkDisguisedLinks } from './disguised-link.ts';
import { checkDisplayName } from './display-name.ts';
import { checkEmptyMessage } from './empty-message.ts';
import { checkHiddenText } from './hidden-text.ts';
import {
  type KnownDomains,
  checkLookAlikeAuthor,
  checkLookAlikeBrand,
  checkMixedScripts,
  checkOwnDomain,
} from './look-alike.ts';
import { type CheckContext, checkHelo, checkHeaders } from './headers.ts';
import { checkLinks } from './links.ts';
import { checkReplyTo } from './reply-to.ts';

/** Runs all content checks, which are the same for all recipients. */
export function checkContent(sample: Sample, context: CheckContext): Finding[] {
  const { links, html, parts } = sample;
  return [
    ...checkLookAlikeBrand(sample),
    ...checkMixedScripts(sample),
    ...checkDisplayName(sample),
    ...checkReplyTo(sample),
    ...(links.length > 0 ? [...checkDisguisedLinks(sample), ...checkLinks(sample)] : []),
    ...(html === '' ? [] : checkHiddenText(sample)),
    ...(parts.length > 0 ? checkAttachments(sample) : []),
    ...checkEmptyMessage(sample),
    ...checkBulk(sample),
    ...checkHeaders(sample, context),
  ];
}

/** Checks the client host. Not called for loopback clients. */
export function checkClient(sample: Sample, context: CheckContext): Finding[] {
  return [...checkHelo(sample, context)];
}

/** Runs the checks that depend on the recipient. */
export function checkForRecipient(sample: Sample, knownDomains: KnownDomains): Finding[] {
  return [...checkLookAlikeAuthor(sample, knownDomains), ...checkOwnDomain(sample, knownDomains)];
}
