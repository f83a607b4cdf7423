import { inflateWhole } from '../message/archive/inflate.ts';
import { nextZipFile } from '../message/archive/zip.ts';
import { decodeCharset, decodeTransfer } from '../message/decode.ts';
import { type Part, unpackParts } from '../message/parts.ts';
import { parseDmarcXml } from './dmarc-xml.ts';
import { MAX_REPORT_OCTETS, type ReportContent, ReportUnreadable } from './report-types.ts';
import { parseTlsJson } from './tls-json.ts';

/** Parts of a message, and files of an archive, that are looked at. */
const MAX_PARTS = 50;
const MAX_FILES = 10;
/** Parts that turn out not to be readable: each may cost as much as the largest report. */
const MAX_UNREADABLE = 2;

/**
 * Reads the report in a message, whatever its types claim: XML or JSON, plain, as gzip or in a zip archive. Bounded in octets,
 * depth and rows. Never throws on untrusted input.
 */
export function readReportMessage({ octets, parts }: { octets: Uint8Array; parts: string }): ReportContent {
  const all = unpackParts(parts).slice(0, MAX_PARTS);
  let unreadable = 0;
  let why = 'it has no report: no part is XML, JSON, gzip or zip';
  if (all.some(({ type, subtype }) => type === 'message' && subtype === 'feedback-report')) return { kind: 'failure' };
  for (const part of all) {
    if (part.type === 'multipart' || part.path === '') continue;
    try {
      const content = contentOf(bodyOf(octets, part));
      if (content !== undefined) return content;
    } catch (error) {
      if (!(error instanceof ReportUnreadable)) throw error;
      why = error.message;
      if (++unreadable === MAX_UNREADABLE) break;
    }
  }
  return { kind: 'unreadable', why };
}

/** Parses one part; undefined if it is no report, such as the text beside it. */
function contentOf(body: Buffer): ReportContent | undefined {
  const file = unpacked(body);
  if (file === undefined) return undefined;
  if (file.length > MAX_REPORT_OCTETS) throw tooLarge();
  const text = decodeCharset(file, '').replace(/^\ufeff/, '');
  // The texts beside a report have no such beginning.
  const start = /^\s{0,1000}(<\?xml|<(?:\w{1,20}:)?feedback|\{)/.exec(text)?.[1];
  if (start === undefined) return undefined;
  return start === '{' ? parseTlsJson(text) : parseDmarcXml(text);
}

/** Unpacks gzip and zip by their first octets; other octets are returned as they are. */
function unpacked(body: Buffer): Buffer | undefined {
  if (body[0] === 0x1f && body[1] === 0x8b) return inflateBounded('gzip', body);
  if (body[0] !== 0x50 || body[1] !== 0x4b) return body;
  let from = 0;
  for (let files = 0; files < MAX_FILES; files++) {
    const file = nextZipFile(body, from);
    if (file === undefined) return undefined;
    if (file.locked) throw new ReportUnreadable('its zip archive needs a password');
    if (file.method === 0 && file.end > file.start) return body.subarray(file.start, file.end);
    if (file.method === 8) return inflateBounded('raw', body.subarray(file.start));
    from = file.start;
  }
  return undefined;
}

function inflateBounded(format: 'gzip' | 'raw', octets: Buffer): Buffer {
  const found = inflateWhole(format, octets, MAX_REPORT_OCTETS);
  if (found === 'large') throw tooLarge();
  if (found === 'broken') throw new ReportUnreadable('its compressed file is broken');
  return found;
}

function tooLarge(): ReportUnreadable {
  return new ReportUnreadable(`it is larger than ${MAX_REPORT_OCTETS / 1024 / 1024} MB when unpacked`);
}

function bodyOf(octets: Uint8Array, { bodyOffset, bodyLength, encoding }: Part): Buffer {
  return decodeTransfer(octets.subarray(bodyOffset, bodyOffset + bodyLength), encoding);
}
