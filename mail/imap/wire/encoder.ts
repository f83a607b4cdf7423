/** Everything here is a latin1 string: write it with encoding 'latin1'. Text that comes in is latin1 too unless said. */

/** `"text"`, or a literal when it is 8-bit, has CR, LF or NUL, or is long. */
export declare function string(text: string): string;
export declare function nstring(text: string | null): string;
/** A mailbox name (UTF-8 in a JS string) as modified UTF-7, or UTF-8 after ENABLE UTF8=ACCEPT. */
export declare function mailbox(name: string, utf8?: boolean): string;
/** `(\Seen keyword)` */
export declare function flagList(names: readonly string[]): string;
/** `"17-Jul-1996 02:44:25 +0000"` */
export declare function internalDate(ms: number): string;
/** `1:3,7`: runs are shortened, the order is kept (COPYUID pairs by it). '' for none. */
export declare function uidSet(uids: ArrayLike<number>): string;
/** `* 3 FETCH (UID 7 FLAGS (\Seen))`, without UID when 0. */
export declare function fetchFlags(seq: number, uid: number, names: readonly string[]): string;
/** One line with its CRLF: `tag OK [CODE] text`. The text is never empty and one line of ASCII. */
export declare function statusLine(
  tag: string,
  status: 'OK' | 'NO' | 'BAD' | 'BYE' | 'PREAUTH',
  code: string | undefined,
  text: string,
): string;
/** `* text` and CRLF. */
export declare function untagged(text: string): string;
/** `+ text` and CRLF. */
export declare function continuation(text?: string): string;
