import { Body, Controller, HttpCode, Post, UseFilters } from '@nestjs/common';
import { check } from './core/generation-fields';
import { tokenString } from './core/token-text';
import { parseDetokenizeRequest, parseTokenizeRequest } from './core/tokenize-request';
import { RequestErrorFilter } from './request-error.filter';
import { encodeText } from './prompt-encoding';
import { ServedModels } from './served-models';

@Controller()
@UseFilters(RequestErrorFilter)
export class TokenizerController {
  constructor(private readonly models: ServedModels) {}

  @Post('tokenize')
  @HttpCode(200)
  tokenize(@Body() body: unknown): object {
    const { language } = this.models;
    const { config, template, text } = language;
    const request = parseTokenizeRequest(template, body);
    this.models.find(request.model);
    const tokens = encodeText(language, request.text, request.addSpecialTokens);
    return {
      count: tokens.length,
      max_model_len: config.maxPositions,
      tokens,
      token_strs: request.wantsStrings ? tokens.map((id) => tokenString(text, id, false)) : null,
    };
  }

  @Post('detokenize')
  @HttpCode(200)
  detokenize(@Body() body: unknown): object {
    const { config, text } = this.models.language;
    const { model, ids } = parseDetokenizeRequest(body);
    this.models.find(model);
    const foreign = ids.find((id) => id >= config.vocabSize);
    check(foreign === undefined, 'tokens', `Token id ${foreign} is out of vocabulary`);
    return { prompt: Buffer.concat(ids.map((id) => text.tokenBytes(id))).toString('utf8') };
  }
}
