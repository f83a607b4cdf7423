import type { BodyPart } from './body-part.ts';
import type { HeaderFields } from './header-values.ts';
import type { Wanted } from './wanted.ts';

/** What the answer about a part needs besides the part itself. */
export interface PartFacts {
  blobId(path: string): string | null;
  size(part: BodyPart): number;
  /** Of a part whose header was asked for. */
  header(part: BodyPart): HeaderFields | undefined;
}

type Asked = Pick<Wanted, 'bodyProperties' | 'bodyHeaders'>;

/** EmailBodyPart of RFC 8621 4.1.4 with the properties asked for, and nothing inside of it. */
export function bodyPartObject(body: BodyPart, asked: Asked, facts: PartFacts): Record<string, unknown> {
  const whole = partProperties(body, facts);
  const found: Record<string, unknown> = {};
  for (const name of asked.bodyProperties) if (Object.hasOwn(whole, name)) found[name] = whole[name];
  if (asked.bodyProperties.has('headers')) found['headers'] = facts.header(body)?.all() ?? [];
  for (const one of asked.bodyHeaders) found[one.property] = facts.header(body)?.read(one) ?? (one.all ? [] : null);
  return found;
}

/** The same with all parts inside, whether or not "subParts" was asked for: without them it would be no structure. */
export function bodyStructureObject(body: BodyPart, asked: Asked, facts: PartFacts): Record<string, unknown> {
  const found = bodyPartObject(body, asked, facts);
  if (body.subParts === null) return found;
  return { ...found, subParts: body.subParts.map((part) => bodyStructureObject(part, asked, facts)) };
}

function partProperties(body: BodyPart, facts: PartFacts): Record<string, unknown> {
  const multipart = body.subParts !== null;
  return {
    partId: multipart ? null : body.part.path,
    blobId: multipart ? null : facts.blobId(body.part.path),
    size: facts.size(body),
    name: body.name,
    type: body.type,
    charset: body.charset,
    disposition: body.disposition,
    cid: body.cid,
    language: body.language,
    location: body.location,
    subParts: null,
  };
}
