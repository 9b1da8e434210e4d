/** Events of a streamed completion, in as many spellings as an event has. */
export const EVENTS = [
  ': a comment\n\n',
  'data: {"id":"cmpl-1","object":"text_completion","choices":[{"index":0,"text":"北 ","logprobs":null,"finish_reason":null}]}\n\n',
  'data:{"id":"cmpl-1", "choices":[{"index":0,"text":"😀","token_ids":[5]}]}\r\n\r\n',
  'data: {"id":"cmpl-1","choices":[{"index":0,"text":"","finish_reason":"stop"}]}\n\n',
];
export const USAGE =
  'data: {"id":"cmpl-1","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\n';
export const DONE = 'data: [DONE]\n\n';
