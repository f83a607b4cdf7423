/** Modified UTF-7 of RFC 3501 5.1.3 to text; what is not well-formed stays as it was written. */
export declare function fromUtf7(name: string): string;
export declare function toUtf7(name: string): string;
/** The one spelling of a name (NFC, `INBOX`), or undefined when it is not acceptable. A trailing `/` is dropped. */
export declare function canonicalName(name: string): string | undefined;
/** True when the LIST pattern (`%`, `*`) matches the canonical name; linear in their lengths. */
export declare function matchesPattern(pattern: string, name: string): boolean;
