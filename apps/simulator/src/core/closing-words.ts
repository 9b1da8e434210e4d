/** Where a person who started everything goes on. */
export interface Place {
  readonly gatewayUrl: string;
  readonly logFolder: string;
  /** Any name that no engine lists is answered by the current version. */
  readonly model: string;
  /** The gateway asks its callers for a key. */
  readonly asksForKey: boolean;
  /** The command line would look for the gateway elsewhere by itself. */
  readonly isElsewhere: boolean;
}

/** What `npm start` says when it serves, a line each. */
export function closingWords({ gatewayUrl, logFolder, model, asksForKey, isElsewhere }: Place): string[] {
  const where = isElsewhere ? ` --gateway ${gatewayUrl}` : '';
  const key = asksForKey ? ` -H "authorization: Bearer $HINDCAST_API_KEY"` : '';
  const body = JSON.stringify({
    model,
    stream: true,
    max_tokens: 120,
    messages: [{ role: 'user', content: 'What is a planet?' }],
  });
  return [
    `Serving at ${gatewayUrl}/v1 (logs in ${logFolder}). Every answer you react to trains the model. Ctrl-C stops everything.`,
    '',
    `  Dashboard: ${gatewayUrl}/`,
    `  Talk:      npx hindcast chat${where}`,
    `  Look:      npx hindcast status${where}`,
    ...(asksForKey
      ? [
          '  The gateway asks for a key: yours goes into HINDCAST_API_KEY; dashboard and status need one of ADMIN_API_KEYS.',
        ]
      : []),
    '',
    `curl -N ${gatewayUrl}/v1/chat/completions -H 'content-type: application/json'${key} \\`,
    `  -d '${body}'`,
  ];
}
