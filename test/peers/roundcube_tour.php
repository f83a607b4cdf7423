<?php
// A session of Roundcube's IMAP library, as its web mail drives it. Prints what it saw as JSON, so that what two servers
// answered can be compared. Arguments: where Debian's package is unpacked, host (ssl:// for TLS), port, user, password.
[, $directory, $host, $port, $user, $password] = $argv;
define('RCUBE_LIB_DIR', "$directory/usr/share/roundcube/program/lib/Roundcube/");
define('RCUBE_CONFIG_DIR', "$directory/etc/roundcube/");
ini_set('error_reporting', (string) (E_ALL & ~E_NOTICE & ~E_STRICT & ~E_DEPRECATED));
require RCUBE_LIB_DIR . 'bootstrap.php';
error_reporting(E_ALL & ~E_NOTICE & ~E_STRICT & ~E_DEPRECATED);
ini_set('log_errors', '0');
ini_set('display_errors', 'stderr');

$rcube = rcube::get_instance();
$rcube->config->set('log_driver', 'stdout');
$imap = new rcube_imap();
$imap->set_options(['auth_type' => null, 'skip_deleted' => false, 'timeout' => 60, 'socket_options' => [
    'ssl' => ['verify_peer' => false, 'verify_peer_name' => false],
]]);
$ssl = str_starts_with($host, 'ssl://') ? 'ssl' : null;
if (!$imap->connect(str_replace('ssl://', '', $host), $user, $password, (int) $port, $ssl)) {
    fwrite(STDERR, 'No login: ' . $imap->get_error_str() . "\n");
    exit(1);
}

$seen = [];

/** A message of the conversations below: `n` is its number, `parent` that of the message it answers. */
function mail_of(int $n, ?int $parent): string {
    $subjects = ['Tea on Friday', 'Überraschung für Jürgen', 'invoice 2026-03', 'zebra', 'Äpfel'];
    $subject = $subjects[($parent ?? $n) % 5];
    $day = 1 + ($n * 7) % 28;
    $to = $n % 3 === 0 ? 'zoe@b.test' : 'anna@b.test';
    $lines = [
        "Message-ID: <$n@tour.test>",
        sprintf('Date: %02d Mar 2026 %02d:00:00 +0000', $day, $n % 24),
        'From: ' . ['"Bob" <bob@a.test>', 'Ann <ann@a.test>', '=?UTF-8?Q?J=C3=BCrgen?= <j@a.test>'][$n % 3],
        "To: $to",
        'Subject: ' . ($parent === null ? '' : 'Re: ') . mb_encode_mimeheader($subject, 'UTF-8', 'Q'),
        'MIME-Version: 1.0',
    ];
    if ($parent !== null) $lines[] = "In-Reply-To: <$parent@tour.test>\r\nReferences: <$parent@tour.test>";
    if ($n % 4 === 0) {
        $lines[] = 'Content-Type: multipart/mixed; boundary=b';
        $lines[] = '';
        $lines[] = "--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" . base64_encode("<p>Größe $n</p>") . "\r\n";
        $lines[] = "--b\r\nContent-Type: application/pdf; name=\"r$n.pdf\"\r\nContent-Disposition: attachment; filename=\"r$n.pdf\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" . chunk_split(base64_encode(str_repeat("x$n", 500))) . "\r\n--b--\r\n";
    } else {
        $lines[] = 'Content-Type: text/plain; charset=utf-8';
        $lines[] = '';
        $lines[] = "Text $n with a needle" . ($n % 5) . ' ' . str_repeat('.', $n * 13) . "\r\n";
    }
    return implode("\r\n", $lines);
}

/** Names of what is set, in an order of their own: servers list flags as they like. */
function set_flags(array $flags): array {
    $names = array_keys(array_filter($flags));
    sort($names);
    return $names;
}

function headers_of(array $list): array {
    return array_map(fn($one) => [
        $one->uid, $one->subject, $one->from, $one->to, $one->messageID, $one->size, $one->ctype, set_flags($one->flags),
    ], array_values($list));
}

$folders = ['Tour', 'Tour/Ünïcode & more', 'Tour/with "quotes"', 'Other'];
$delimiter = $imap->get_hierarchy_delimiter();
$named = fn(string $name) => rcube_charset::convert(str_replace('/', $delimiter, $name), 'UTF-8', 'UTF7-IMAP');
foreach ($folders as $folder) $seen['create'][$folder] = $imap->create_folder($named($folder), true);
$seen['folders'] = array_values(array_filter(
    array_map(fn($name) => str_replace($delimiter, '/', rcube_charset::convert($name, 'UTF7-IMAP', 'UTF-8')), $imap->list_folders()),
    fn($name) => str_starts_with($name, 'Tour') || in_array($name, ['INBOX', 'Other']),
));
$seen['subscribed'] = count(array_filter($imap->list_folders_subscribed(), fn($name) => str_starts_with($name, 'Tour')));

for ($n = 1; $n <= 40; $n++) {
    $message = mail_of($n, $n > 10 ? 1 + $n % 10 : null);
    $flags = $n % 3 === 0 ? ['SEEN'] : [];
    if (!$imap->save_message('Tour', $message, '', false, $flags, sprintf('%02d-Apr-2026 10:00:00 +0000', 1 + $n % 28))) {
        fwrite(STDERR, "APPEND $n: " . $imap->get_error_str() . "\n");
        exit(1);
    }
}
$imap->set_folder('Tour');
foreach (['ALL', 'UNSEEN', 'EXISTS'] as $mode) $seen['count'][$mode] = $imap->count('Tour', $mode, true);

$imap->set_pagesize(15);
foreach (['', 'date', 'subject', 'from', 'to', 'size', 'arrival', 'cc'] as $field) {
    foreach (['ASC', 'DESC'] as $order) {
        $seen['sort']["$field $order"] = $imap->index_direct('Tour', $field, $order)->get();
        $seen['page']["$field $order"] = headers_of($imap->list_messages('Tour', 2, $field, $order));
    }
}
foreach (['REFERENCES', 'ORDEREDSUBJECT', 'REFS'] as $algorithm) {
    $threads = $imap->conn->thread('Tour', $algorithm, '', true);
    $tree = $threads->get_tree();
    ksort($tree);
    $seen['threads'][$algorithm] = [$threads->is_error(), $threads->count(), $tree];
}
$imap->set_threading(true);
// Threads of one date have no order of their own: by size each has its place.
$seen['thread page'] = headers_of($imap->list_messages('Tour', 1, 'size', 'DESC'));
$imap->set_threading(false);

foreach ([
    ['ALL', 'date'], ['UNSEEN', 'subject'], ['HEADER SUBJECT "Tea"', 'from'], ['TEXT "needle3"', 'size'], ['SINCE 10-Apr-2026', 'arrival'],
    ["HEADER SUBJECT {16}\r\nÜberraschung für", 'date'], ['OR HEADER FROM "ann" HEADER TO "zoe"', 'date'], ['LARGER 1000 NOT SEEN', 'size'],
] as [$criteria, $field]) {
    $criteria = preg_replace_callback('/\{\d+\}\r\n(.*)$/s', fn($found) => rcube_imap_generic::escape($found[1]), $criteria);
    $found = $imap->search('Tour', $criteria, 'UTF-8', $field);
    $seen['search'][$criteria] = $found->get();
    $seen['found'][$criteria] = headers_of($imap->list_messages('Tour', 1, $field, 'ASC'));
    $imap->set_search_set(null);
}
$uids = array_values($seen['sort']['arrival ASC']);
sort($uids);

foreach ([$uids[3], $uids[7], $uids[0]] as $uid) {
    $message = $imap->get_message($uid, 'Tour');
    $parts = array_map(fn($part) => [$part->mime_id, $part->mimetype, $part->encoding, $part->size, $part->filename ?? ''], $message->structure->parts ?? []);
    $texts = array_map(fn($part) => $imap->get_message_part($uid, $part[0]), $parts);
    $seen['read'][] = [$message->structure->mimetype, $parts, $texts, $imap->get_raw_body($uid), $imap->get_raw_headers($uid)];
}

$seen['acts'] = [
    'flag' => $imap->set_flag(array_slice($uids, 0, 5), 'FLAGGED', 'Tour'),
    'unseen' => $imap->set_flag([$uids[2]], 'UNSEEN', 'Tour'),
    'label' => $imap->set_flag([$uids[4]], '$label1', 'Tour'),
    'copy' => $imap->copy_message(array_slice($uids, 0, 4), 'Other', 'Tour'),
    'move' => $imap->move_message(array_slice($uids, 4, 6), $named('Tour/with "quotes"'), 'Tour'),
    'delete' => $imap->delete_message(array_slice($uids, 10, 3), 'Tour'),
    'rename' => $imap->rename_folder($named('Tour/Ünïcode & more'), $named('Tour/日本語')),
];
$seen['after'] = [
    'Tour' => $imap->list_flags('Tour', array_slice($uids, 0, 16)),
    'Other' => headers_of($imap->list_messages('Other', 1, 'arrival', 'ASC')),
    'quotes' => headers_of($imap->list_messages($named('Tour/with "quotes"'), 1, 'arrival', 'ASC')),
    'exists' => $imap->folder_exists($named('Tour/日本語')),
    'unseen' => $imap->count('Tour', 'UNSEEN', true),
];
ksort($seen['after']['Tour']);
$seen['after']['Tour'] = array_map('set_flags', $seen['after']['Tour']);
$everywhere = $imap->search(['Tour', 'Other', $named('Tour/with "quotes"')], 'HEADER SUBJECT "Tea"', 'UTF-8', 'date');
$seen['everywhere'] = array_map(fn($id) => str_replace($delimiter, '/', (string) $id), $everywhere->get());
$imap->set_search_set(null);
$seen['clear'] = $imap->clear_folder('Other');
$seen['left'] = $imap->count('Other', 'ALL', true);
foreach (array_reverse(['Tour/with "quotes"', 'Tour/日本語', 'Other']) as $folder) $seen['removed'][$folder] = $imap->delete_folder($named($folder));
$seen['error'] = $imap->get_error_str();
$imap->close();
echo json_encode($seen, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE);
