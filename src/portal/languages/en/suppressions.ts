/** Messages about suppressed addresses. */
export const suppressions = {
  'suppression.added': 'Address suppressed. Programs no longer send to it.',
  'suppression.removed': 'Suppression removed. If the address still bounces, it is suppressed again.',
  'suppression.about':
    'Addresses that programs of this organization no longer send to. People with a mailbox still can.',
  'suppression.none': 'No suppressed addresses',
  'suppression.none-text': 'An address is suppressed after a hard bounce, a complaint or an unsubscribe request.',
  'suppression.bounced': 'Bounced',
  'suppression.complained': 'Complained',
  'suppression.unsubscribed': 'Unsubscribed',
  'suppression.manual': 'Manual',
  'suppression.addresses': 'Suppressed addresses',
  'suppression.source': 'Source',
  'suppression.consent-question': '{address} asked to receive no more mail. Remove it only with their consent.',
  'suppression.remove-question': 'Programs may send to {address} again.',
  'suppression.add-title': 'Suppress an address',
  'suppression.add': 'Suppress address',
} as const;
