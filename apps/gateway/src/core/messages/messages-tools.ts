import { shown } from './content-parts';
import { listAt, objectAt, RequestFault, stringAt, type Json } from './request-fault';

/**
 * The client's tools as function tools. Tools that Anthropic's servers run, and those whose schema only its models know, cannot be
 * served.
 *
 * @throws RequestFault
 */
export function functionTools(tools: unknown): Json[] {
  if (tools === undefined || tools === null) return [];
  return listAt(tools, 'tools').map((value, index) => {
    const param = `tools.${index}`;
    const tool = objectAt(value, param);
    const { type, name, description, input_schema: parameters, strict } = tool;
    if (type !== undefined && type !== null && type !== 'custom')
      throw new RequestFault(
        param,
        `tools of type ${shown(type)} exist only at Anthropic; give a custom tool with an input_schema`,
      );
    return {
      type: 'function',
      function: {
        name: stringAt(name, `${param}.name`),
        ...(typeof description === 'string' && { description }),
        parameters: objectAt(parameters, `${param}.input_schema`),
        ...(typeof strict === 'boolean' && { strict }),
      },
    };
  });
}

/** `tool_choice` and `parallel_tool_calls`. @throws RequestFault */
export function toolChoice(choice: unknown, hasTools: boolean): Json {
  if (choice === undefined || choice === null) return {};
  const { type, name, disable_parallel_tool_use: oneAtMost } = objectAt(choice, 'tool_choice');
  const isForced = type === 'any' || type === 'tool';
  if (!isForced && type !== 'auto' && type !== 'none')
    throw new RequestFault('tool_choice.type', "must be 'auto', 'any', 'tool' or 'none'");
  if (!hasTools) {
    if (isForced) throw new RequestFault('tool_choice', 'needs tools');
    return {};
  }
  const chosen =
    type === 'tool'
      ? { type: 'function', function: { name: stringAt(name, 'tool_choice.name') } }
      : type === 'any'
        ? 'required'
        : type;
  return { tool_choice: chosen, ...(typeof oneAtMost === 'boolean' && { parallel_tool_calls: !oneAtMost }) };
}
