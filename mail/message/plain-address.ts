/** Nothing but an address: a quoted local part could hold whole sentences. */
export function isPlainAddress(address: string): boolean {
  return /^[\p{L}\p{N}.!#$%&'*+/=?^_{|}~-]{1,64}@[\p{L}\p{N}.-]{1,253}$/u.test(address);
}
