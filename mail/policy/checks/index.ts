import type { Finding } from '../finding.ts';
import type { Sample } from '../sample.ts';
import {
  attachedPages,
  brokenArchive,
  closedArchive,
  lockedArchive,
  macros,
  manyParts,
  programs,
} from './attachments.ts';
import { bulk } from './bulk.ts';
import { disguisedLink } from './disguised-link.ts';
import { displayName } from './display-name.ts';
import { emptyShell } from './empty-shell.ts';
import { hiddenText } from './hidden-text.ts';
import { type Familiar, lookAlikeAuthor, lookAlikeBrand, mixedScripts, ownDomain } from './look-alike.ts';
import { type Here, oddGreeting, oddHeaders } from './odd-headers.ts';
import { oddLinks } from './odd-links.ts';
import { replyTo } from './reply-to.ts';

/** What a message shows of itself, to whomever it is. */
const CONTENT: readonly ((sample: Sample, here: Here) => readonly Finding[])[] = [
  lookAlikeBrand,
  mixedScripts,
  displayName,
  replyTo,
  disguisedLink,
  oddLinks,
  hiddenText,
  programs,
  macros,
  lockedArchive,
  closedArchive,
  brokenArchive,
  attachedPages,
  manyParts,
  emptyShell,
  bulk,
  oddHeaders,
];

/** Everything that can be said of a message by looking at it. */
export function checkContent(sample: Sample, here: Here): Finding[] {
  return CONTENT.flatMap((check) => check(sample, here));
}

/** What can be said of the host that brought it; nothing of a loopback client. */
export function checkPeer(sample: Sample, here: Here): Finding[] {
  return [...oddGreeting(sample, here)];
}

/** What can be said of it to a recipient who knows these domains. */
export function checkFamiliar(sample: Sample, familiar: Familiar): Finding[] {
  return [lookAlikeAuthor, ownDomain].flatMap((check) => check(sample, familiar));
}
