import type { Answer } from 'dns-packet';

/** One record as it is served; the name is the question's, so that it keeps its case. */
export type ZoneRecord =
  | { type: 'A' | 'AAAA' | 'NS'; value: string }
  | { type: 'MX'; value: string; priority: number }
  | { type: 'TXT'; value: string };

/** What a zone says about one name. Names are lower case without a dot at the end. */
export interface ZoneAnswer {
  /** The top of the zone. */
  readonly apex: string;
  /** The server of the zone, for its SOA. */
  readonly server: string;
  /** Whether there is anything at or below the name. */
  readonly exists: boolean;
  readonly records: readonly ZoneRecord[];
}

/** Who knows the zones of this box: undefined for names that are not its own. */
export type FindZone = (name: string) => Promise<ZoneAnswer | undefined>;

/** Seconds. Short, because keys are rotated and domains leave. */
export const TTL = 300;
/** For what is not there, seconds: people publish, look, and look again. RFC 2308 5. */
const NEGATIVE_TTL = 60;

/** A record as the wire format library takes it. Long texts become several character-strings. RFC 1035 3.3.14. */
export function packetRecord(name: string, record: ZoneRecord): Answer {
  const head = { name, ttl: TTL, class: 'IN' as const };
  switch (record.type) {
    case 'MX':
      return { ...head, type: 'MX', data: { preference: record.priority, exchange: record.value } };
    case 'TXT':
      return { ...head, type: 'TXT', data: characterStrings(record.value) };
    case 'A':
    case 'AAAA':
    case 'NS':
      return { ...head, type: record.type, data: record.value };
  }
}

/** The text of a TXT record in strings of at most 255 octets. */
export function characterStrings(text: string): string[] {
  return text.match(/[^]{1,255}/g) ?? [''];
}

/** The start of a zone: in answers to questions for it, and under every "there is no such thing". RFC 2308 3. */
export function soaRecord({ apex, server }: Pick<ZoneAnswer, 'apex' | 'server'>): Answer {
  return {
    name: apex,
    type: 'SOA',
    class: 'IN',
    ttl: NEGATIVE_TTL,
    // Nobody transfers these zones, so the serial number says nothing.
    data: {
      mname: server,
      rname: `postmaster.${server}`,
      serial: 1,
      refresh: 3600,
      retry: 600,
      expire: 604_800,
      minimum: NEGATIVE_TTL,
    },
  };
}
