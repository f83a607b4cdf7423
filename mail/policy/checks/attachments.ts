import { type Finding, sanitizeWord } from '../finding.ts';
import { isContainer } from '../container/container-scan.ts';
import { isSourceFile, detectProgram, classifyProgramName } from '../container/program.ts';
import type { Sample, SamplePart } from '../sample.ts';
import { failsAuthentication, isUnauthenticated } from '../author-proof.ts';

const FLAG = 'executable-attachment';
/** Larger archives are usually source code, which may contain scripts. */
const SMALL_ARCHIVE_FILES = 3;

/** Runs all checks of attachments. */
export function checkAttachments(sample: Sample): Finding[] {
  return [
    ...checkPrograms(sample),
    ...checkMacros(sample),
    ...checkEncryptedArchives(sample),
    ...checkOpaqueArchives(sample),
    ...checkDamagedArchives(sample),
    ...checkAttachedPages(sample),
    ...checkPartCount(sample),
  ];
}

/** Finds attached programs by name and by file signature, in archives by name. Rejects them if authentication failed. */
export function checkPrograms(sample: Sample): readonly Finding[] {
  const refuse = failsAuthentication(sample) && { refuse: true };
  for (const part of sample.parts) {
    const why = findProgram(part);
    if (why !== undefined) return [{ rule: 'program', score: 3, why, flag: FLAG, ...refuse }];
  }
  return [];
}

function findProgram({ type, name, head, contents: inside }: SamplePart): string | undefined {
  const kind = detectProgram(head);
  // Developers send each other scripts as text.
  const text = kind === 'script' && (type.startsWith('text/') || classifyProgramName(name) === undefined);
  if (kind !== '' && !text) return `The attachment ${sanitizeWord(name || type)} is a program`;
  // The name of an attached message is its subject, which may end in ".com".
  const called = type.startsWith('message/') ? undefined : classifyProgramName(name);
  if (called === 'disguised') return `The attachment ${sanitizeWord(name)} is a program disguised as a document`;
  // Browsers show text/plain whatever its name, and Git sends patches so.
  if (called === 'plain' && !(isSourceFile(name) && type.startsWith('text/')))
    return `The attachment ${sanitizeWord(name)} is a program`;
  const names = inside?.names ?? [];
  const hidden = names.find((one) => countsAsProgram(one, names.length));
  return hidden === undefined ? undefined : `The archive ${sanitizeWord(name || type)} contains a program`;
}

function countsAsProgram(name: string, files: number): boolean {
  const called = classifyProgramName(name);
  return called === 'disguised' || (called === 'plain' && (!isSourceFile(name) || files <= SMALL_ARCHIVE_FILES));
}

/** Finds documents with macros. */
function checkMacros(sample: Sample): readonly Finding[] {
  const found = sample.parts.find(
    ({ contents: inside, name }) => inside?.macros === true || /\.(?:do[ct]m|xl[st]m|xlam|pp[ts]m)$/i.test(name),
  );
  if (found === undefined) return [];
  const why = `The document ${sanitizeWord(found.name || found.type)} contains macros`;
  return [{ rule: 'macros', score: isUnauthenticated(sample) ? 2.5 : 1.5, why, flag: 'macro-attachment' }];
}

/** Finds encrypted archives, which cannot be inspected. The password is often in the message. */
function checkEncryptedArchives({ parts }: Sample): readonly Finding[] {
  const found = parts.find(({ contents: inside }) => inside?.locked === true);
  if (found === undefined) return [];
  const why = `The attachment ${sanitizeWord(found.name || found.type)} is encrypted with a password`;
  return [{ rule: 'locked-archive', score: 1.5, why, flag: 'locked-archive' }];
}

/** Finds archives that cannot be inspected (RAR and 7z): they may hold programs. */
export function checkOpaqueArchives(sample: Sample): readonly Finding[] {
  const found = sample.parts.find(({ contents: inside }) => inside?.opaque === true);
  if (found === undefined) return [];
  const why = `The archive ${sanitizeWord(found.name || found.type)} cannot be inspected`;
  return [{ rule: 'closed-archive', score: isUnauthenticated(sample) ? 1.5 : 0.5, why }];
}

/** Finds damaged archives: some programs open them, and filters cannot inspect them. */
function checkDamagedArchives({ parts }: Sample): readonly Finding[] {
  const found = parts.find(({ head, contents: inside }) => inside === undefined && isContainer(head));
  if (found === undefined) return [];
  const why = `The attachment ${sanitizeWord(found.name || found.type)} is a damaged archive`;
  return [{ rule: 'broken-archive', score: 1, why }];
}

/** Finds attached web pages, and SVG images with scripts: phishing forms that no list of hosts can know. */
function checkAttachedPages(sample: Sample): readonly Finding[] {
  const found = sample.parts.find(isPage);
  if (found === undefined) return [];
  const why = `A web page is attached as ${sanitizeWord(found.name || found.type)}`;
  return [{ rule: 'attached-page', score: isUnauthenticated(sample) ? 2 : 1, why }];
}

function isPage({ name, head, type }: SamplePart): boolean {
  if (/\.(?:s?html?|xht(?:ml)?|mht(?:ml)?)$/i.test(name) || type === 'text/html') return true;
  const picture = /\.svgz?$/i.test(name) || type === 'image/svg+xml';
  return picture && /<script|<foreignobject|\son(?:load|click)\s*=|javascript:/i.test(head.toString('latin1'));
}

/** Finds messages with more parts than are inspected. */
function checkPartCount({ parts }: Sample): readonly Finding[] {
  if (parts.length < MAX_INSPECTED_PARTS) return [];
  return [{ rule: 'many-parts', score: 1, why: 'The message has too many attachments to inspect them all' }];
}

const MAX_INSPECTED_PARTS = 100;
