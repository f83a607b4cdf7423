import { type Finding, plainWord } from '../finding.ts';
import { isContainer } from '../inside/container-scan.ts';
import { isSource, programKind, programName } from '../inside/program.ts';
import type { Sample, SamplePart } from '../sample.ts';
import { hasFailed, isUnproven } from '../vouched.ts';

const FLAG = 'executable-attachment';
/** Archives with more files are somebody's work, in which there may be scripts. */
const FEW = 3;

/** Programs that come as attachments, by name and by how they begin, in archives by name. Refused where proof has failed. */
export function programs(sample: Sample): readonly Finding[] {
  const refuse = hasFailed(sample) && { refuse: true };
  for (const part of sample.parts) {
    const why = programIn(part);
    if (why !== undefined) return [{ rule: 'program', score: 3, why, flag: FLAG, ...refuse }];
  }
  return [];
}

function programIn({ type, name, head, inside }: SamplePart): string | undefined {
  const kind = programKind(head);
  // A script as text is what people send each other who write some.
  const text = kind === 'script' && (type.startsWith('text/') || programName(name) === undefined);
  if (kind !== '' && !text) return `What is attached as ${plainWord(name || type)} is a program`;
  // An attached message is named by its subject, which may end in ".com".
  const called = type.startsWith('message/') ? undefined : programName(name);
  if (called === 'disguised') return `The attachment ${plainWord(name)} is a program that is called like a document`;
  // Browsers show text/plain whatever it is called, and Git sends patches so.
  if (called === 'plain' && !(isSource(name) && type.startsWith('text/')))
    return `The attachment ${plainWord(name)} is a program`;
  const names = inside?.names ?? [];
  const hidden = names.find((one) => counts(one, names.length));
  return hidden === undefined ? undefined : `The archive ${plainWord(name || type)} holds a program`;
}

function counts(name: string, files: number): boolean {
  const called = programName(name);
  return called === 'disguised' || (called === 'plain' && (!isSource(name) || files <= FEW));
}

/** Documents with programs in them. */
export function macros(sample: Sample): readonly Finding[] {
  const found = sample.parts.find(
    ({ inside, name }) => inside?.macros === true || /\.(?:do[ct]m|xl[st]m|xlam|pp[ts]m)$/i.test(name),
  );
  if (found === undefined) return [];
  const why = `The document ${plainWord(found.name || found.type)} brings programs of its own (macros)`;
  return [{ rule: 'macros', score: isUnproven(sample) ? 2.5 : 1.5, why, flag: 'macro-attachment' }];
}

/** Archives that nothing can look into before somebody types the password, which often stands in the message. */
export function lockedArchive({ parts }: Sample): readonly Finding[] {
  const found = parts.find(({ inside }) => inside?.locked === true);
  if (found === undefined) return [];
  const why = `What is attached as ${plainWord(found.name || found.type)} is locked with a password`;
  return [{ rule: 'locked-archive', score: 1.5, why, flag: 'locked-archive' }];
}

/** Archives that tell nothing of what is in them: most of that kind are made so, and this one could hold anything. */
export function closedArchive({ parts }: Sample): readonly Finding[] {
  const found = parts.find(({ inside }) => inside?.closed === true);
  if (found === undefined) return [];
  const why = `The archive ${plainWord(found.name || found.type)} cannot be looked into`;
  return [{ rule: 'closed-archive', score: 0.5, why }];
}

/** Archives that begin as such and have no end: some programs open them all the same, and no filter looks into them. */
export function brokenArchive({ parts }: Sample): readonly Finding[] {
  const found = parts.find(({ head, inside }) => inside === undefined && isContainer(head));
  if (found === undefined) return [];
  const why = `What is attached as ${plainWord(found.name || found.type)} is a damaged archive`;
  return [{ rule: 'broken-archive', score: 1, why }];
}

/** Pages and pictures with scripts as attachments: forms for passwords that no list of hosts can know. */
export function attachedPages(sample: Sample): readonly Finding[] {
  const found = sample.parts.find(isPage);
  if (found === undefined) return [];
  const why = `A web page is attached as ${plainWord(found.name || found.type)}`;
  return [{ rule: 'attached-page', score: isUnproven(sample) ? 2 : 1, why }];
}

function isPage({ name, head, type }: SamplePart): boolean {
  if (/\.(?:s?html?|xht(?:ml)?|mht(?:ml)?)$/i.test(name) || type === 'text/html') return true;
  const picture = /\.svgz?$/i.test(name) || type === 'image/svg+xml';
  return picture && /<script|<foreignobject|\son(?:load|click)\s*=|javascript:/i.test(head.toString('latin1'));
}

/** More attachments than are looked at: the last ones could be anything. */
export function manyParts({ parts }: Sample): readonly Finding[] {
  if (parts.length < MOST_LOOKED_AT) return [];
  return [{ rule: 'many-parts', score: 1, why: 'It has so many attachments that not all were looked at' }];
}

const MOST_LOOKED_AT = 100;
