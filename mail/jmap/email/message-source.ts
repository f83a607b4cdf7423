/** One message, stored or only parsed: what is known of it without reading it, and its octets. */
export interface MessageSource {
  /** Header lines that stand before the octets; one character an octet. */
  trace: string;
  /** Octets of the header in the octets themselves, with its empty line. */
  headerLength: number;
  /** Wire-ready ENVELOPE and BODYSTRUCTURE, and the part table. */
  envelope: string;
  bodyStructure: string;
  parts: string;
  preview: string;
  hasAttachment: boolean;
  /** From the first octet behind the trace on; clipped to what is there. */
  read(start: number, length: number): Promise<Buffer>;
  /** The id under which the octets of a part can be downloaded; null when there is none. */
  partBlobId(path: string): string | null;
}
